/** Which ciphers and curves a page uses. */

import type { Crypto } from '../../ports.ts'
import { logged } from './key-log.ts'
import { nobleCiphers } from './noble-ciphers.ts'
import { curvesInPage } from './page-curves.ts'

/** Opens both. */
export async function openInPage(): Promise<Crypto> {
  return { ciphers: logged(nobleCiphers), curves: await curvesInPage() }
}
