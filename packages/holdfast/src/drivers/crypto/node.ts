/** Which ciphers and curves a Node process uses. */

import type { Crypto, Curves } from '../../ports.ts'
import { libsodium, libsodiumCurves } from './libsodium.ts'
import { sodiumNative } from './sodium-native.ts'

/** The fastest that is installed: `sodium-native`, else `libsodium-wrappers`, whose curves do. */
export async function openOnNode(load?: () => unknown): Promise<Crypto> {
  const ciphers = sodiumNative(load) ?? (await libsodium())
  return { ciphers, curves: await curvesOnNode() }
}

/** The curves alone, for what seals nothing. */
export function curvesOnNode(): Promise<Curves> {
  return libsodiumCurves()
}
