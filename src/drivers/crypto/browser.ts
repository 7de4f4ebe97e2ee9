/** Which ciphers and curves a page uses. */

import type { Crypto } from '../../ports.ts'
import { logged } from './key-log.ts'
import { nobleCiphers } from './noble-ciphers.ts'
import { webCurves } from './web-curves.ts'

/** The platform's curves; those of a package, which most pages never load, where it has none. */
export async function openInPage(): Promise<Crypto> {
  const curves = (await webCurves()) ?? (await import('./noble-curves.ts')).nobleCurves
  return { ciphers: logged(nobleCiphers), curves }
}
