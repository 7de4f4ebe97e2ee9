/** Which ciphers and curves a page uses. */

import type { Ciphers, Curves } from '../../ports.ts'
import { nobleCiphers } from './noble-ciphers.ts'
import { webCurves } from './web-curves.ts'

/**
 * The platform's curves, or those of a package where it has none.
 *
 * @param load  loads that package, which most pages never need
 */
export async function openInPage(
  load: () => Promise<Curves>,
): Promise<{ ciphers: Ciphers; curves: Curves }> {
  return { ciphers: nobleCiphers, curves: (await webCurves()) ?? (await load()) }
}
