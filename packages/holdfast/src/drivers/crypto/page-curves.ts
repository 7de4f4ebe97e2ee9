/** Which curves a page uses: apart from ciphers, for a mailbox seals nothing. */

import type { Curves } from '../../ports.ts'
import { webCurves } from './web-curves.ts'

/** The platform's curves; those of a package, which most pages never load, where it has none. */
export async function curvesInPage(): Promise<Curves> {
  return (await webCurves()) ?? (await import('./noble-curves.ts')).nobleCurves
}
