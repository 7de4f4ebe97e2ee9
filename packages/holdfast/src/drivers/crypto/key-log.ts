/**
 * For who debugs: a page whose `globalThis.holdfastKeyLog` is a function before it joins has each
 * key of its packets given to it, so that what was captured on its streams can be opened.
 */

import type { Ciphers } from '../../ports.ts'

/** Those ciphers, whose keys are told where somebody asks for that. */
export function logged(ciphers: Ciphers): Ciphers {
  const { holdfastKeyLog: log } = globalThis as { holdfastKeyLog?: (key: Uint8Array) => void }
  if (typeof log !== 'function') return ciphers
  const told = new Set<string>()
  return {
    ...ciphers,
    seal: (key, ...rest) => {
      const name = key.join()
      if (!told.has(name)) log(key.slice())
      told.add(name)
      ciphers.seal(key, ...rest)
    },
  }
}
