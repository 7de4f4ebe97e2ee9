/**
 * Loaded into every process of a bench (`--import`): hides the optional `sodium-native`, so that
 * benches measure what a plain `npm install` gives. `npm run bench -- NAME --sodium` leaves it out.
 */

import Module from 'node:module'

type Resolve = (request: string, ...rest: unknown[]) => string

const loader = Module as unknown as { _resolveFilename: Resolve }
const resolve = loader._resolveFilename
loader._resolveFilename = (request, ...rest) => {
  if (request !== 'sodium-native') return resolve.call(loader, request, ...rest)
  throw Object.assign(new Error('sodium-native is hidden'), { code: 'MODULE_NOT_FOUND' })
}
