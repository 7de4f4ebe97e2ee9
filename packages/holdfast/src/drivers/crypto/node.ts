/** The ciphers and curves of a Node process. */

import type { Crypto, Curves } from '../../ports.ts'
import { libsodium, libsodiumCurves } from './libsodium.ts'
import { sodiumNative } from './sodium-native.ts'

/** Ciphers of `sodium-native` if installed, else `libsodium-wrappers`, and the latter's curves. */
export async function openOnNode(load?: () => unknown): Promise<Crypto> {
  const ciphers = sodiumNative(load) ?? (await libsodium())
  return { ciphers, curves: await curvesOnNode() }
}

/** Only the curves, for code that seals nothing. */
export function curvesOnNode(): Promise<Curves> {
  return libsodiumCurves()
}
