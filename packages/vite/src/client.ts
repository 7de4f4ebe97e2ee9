/**
 * The part of the Vite plugin that runs in a page: a `join` that outlives hot updates.
 *
 * @module
 */

import type { JoinOptions, Session } from '../../holdfast/src/index.ts'

type Join = (options: JoinOptions) => Promise<Session>

/** What of Vite's `import.meta.hot` is used. */
interface Hot {
  on(event: 'vite:beforeUpdate', listener: () => void): void
}

interface Joined {
  readonly key: string
  readonly types: string
  readonly session: Promise<Session>
}

/** How often, and after which pause in ms, a room of other definitions is tried again. */
const SCHEMA_TRIES = 10
const SCHEMA_PAUSE_MS = 500

/**
 * Wraps `join` for development. A module that a hot update runs again gets the session that it had
 * joined, if it joins the same room under the same name; if its definitions changed, the page is
 * reloaded. A room that an older build stored starts over, as with `fresh`.
 *
 * @param reload  loads the page again
 */
export function hotJoin(join: Join, hot: Hot, reload = () => location.reload()): Join {
  const joined = new Set<Joined>()
  // Those that this run of the modules has asked for: two equal calls join twice.
  let asked = new WeakSet<Joined>()
  hot.on('vite:beforeUpdate', () => void (asked = new WeakSet()))

  return (options) => {
    const key = keyOf(options)
    const types = shapeOf(options.types)
    const before = [...joined].find((one) => one.key === key && !asked.has(one))
    if (before) {
      asked.add(before)
      if (before.types === types) return before.session
      reload()
      return new Promise(() => {})
    }
    const session = joinPatiently(join, { fresh: true, ...options })
    const own: Joined = { key, types, session }
    joined.add(own)
    asked.add(own)
    const forget = (): void => void joined.delete(own)
    session.then((live) => {
      live.on('status', (status) => {
        if (status === 'lost') forget()
      })
    }, forget)
    return session
  }
}

// The other windows are loading the new definitions, too, and may be later than this one.
async function joinPatiently(join: Join, options: JoinOptions): Promise<Session> {
  for (let left = SCHEMA_TRIES; ; left--) {
    try {
      return await join(options)
    } catch (error) {
      if (left === 0 || (error as { code?: string }).code !== 'schema') throw error
      await new Promise((resolve) => setTimeout(resolve, SCHEMA_PAUSE_MS))
    }
  }
}

function keyOf(options: JoinOptions): string {
  return JSON.stringify({ ...options, types: null, signal: null })
}

// Functions count by their text: those of actions and rules run in the session.
function shapeOf(types: JoinOptions['types'] = []): string {
  return JSON.stringify(types, (key, value: unknown) => {
    if (key === 'kind') return (value as { word?: string }).word
    return typeof value === 'function' ? String(value) : value
  })
}
