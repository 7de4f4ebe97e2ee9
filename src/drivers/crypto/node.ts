/** Which ciphers and curves a Node process uses. */

import type { Ciphers, Curves } from '../../ports.ts'
import { nodeCurves } from './node-crypto.ts'
import { sodiumNative } from './sodium-native.ts'

/** The fastest that is installed: `sodium-native`, else `libsodium-wrappers`; curves of Node. */
export async function openOnNode(
  load?: () => unknown,
): Promise<{ ciphers: Ciphers; curves: Curves }> {
  const ciphers = sodiumNative(load) ?? (await (await import('./libsodium.ts')).libsodium())
  return { ciphers, curves: nodeCurves }
}
