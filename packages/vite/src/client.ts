/**
 * The part of the Vite plugin that runs in a page: a `join` that outlives hot updates.
 *
 * @module
 */

import type { Definition, JoinOptions, Session } from '../../holdfast/src/index.ts'
import { type Development, development, joinKey } from '../../holdfast/src/join/development.ts'

type Join = (options: JoinOptions) => Promise<Session>

/** What of Vite's `import.meta.hot` is used. */
interface Hot {
  on(
    event: 'vite:beforeUpdate',
    listener: (update: { updates: readonly { type: string }[] }) => void,
  ): void
  on(event: 'vite:beforeFullReload', listener: () => void): void
}

interface Joined {
  readonly key: string
  readonly types: readonly Definition[]
  readonly session: Promise<Session>
}

type On = (name: string, listener: (value: unknown) => void, options?: object) => unknown

/** How often, and after which pause in ms, a room of other definitions is tried again. */
const SCHEMA_TRIES = 10
const SCHEMA_PAUSE_MS = 500

/**
 * Has every `join` of this page outlive hot updates. A module that an update runs again gets the
 * session that it had joined, if it joins the same room under the same name; if its definitions
 * changed, the page is loaded again. A room that an older build stored starts over, as with
 * `fresh`.
 *
 * @param hot  Vite's `import.meta.hot` of any module
 */
export function develop(hot: Hot): void {
  development.current ??= new HotSessions(hot)
}

class HotSessions implements Development {
  readonly #joined = new Set<Joined>()
  // Those that this run of the modules has asked for: two joins of one room are two sessions.
  #asked = new WeakSet<Joined>()
  #isReloading = false

  constructor(hot: Hot) {
    hot.on('vite:beforeUpdate', ({ updates }) => {
      if (updates.some(({ type }) => type === 'js-update')) this.#asked = new WeakSet()
    })
    hot.on('vite:beforeFullReload', () => void (this.#isReloading = true))
  }

  join(join: Join, options: JoinOptions): Promise<Session> {
    const { types = [] } = options
    const key = joinKey(options)
    const before = [...this.#joined].find((one) => one.key === key && !this.#asked.has(one))
    if (before) {
      this.#asked.add(before)
      // What a module does next would fail with definitions that the session does not have.
      return this.compare(before.types, types) ? new Promise(() => {}) : before.session
    }
    const session = joinPatiently(join, { fresh: true, ...options })
    const own: Joined = { key, types, session }
    this.#joined.add(own)
    this.#asked.add(own)
    const forget = (): void => void this.#joined.delete(own)
    session.then((live) => this.#follow(live, forget), forget)
    return session
  }

  // One that is being left is not handed out again. A page that is loaded again says goodbye, which
  // is no loss to show.
  #follow(session: Session, forget: () => void): void {
    const [leave, end] = [session.leave.bind(session), session.end.bind(session)]
    const on = session.on.bind(session) as On
    Object.assign(session, {
      on: ((name, listener, options) => {
        const told = (value: unknown): void => {
          if (name !== 'status' || !this.#isReloading) listener(value)
        }
        return on(name, told, options)
      }) satisfies On,
      leave: () => {
        forget()
        return leave()
      },
      end: (why: string) => {
        forget()
        end(why)
      },
    })
    session.on('status', (status) => {
      if (status === 'lost') forget()
    })
  }

  compare(before: readonly Definition[], now: readonly Definition[]): boolean {
    const isSame = before.length === now.length && before.every((type, i) => isEqual(type, now[i]!))
    if (isSame) return false
    this.#isReloading = true
    location.reload()
    return true
  }
}

// The functions of these run in the session, and use whatever their module has.
const WITH_CODE = ['action', 'procedure', 'world of slots', 'part']

function isEqual(before: Definition, now: Definition): boolean {
  if (before === now) return true
  return !WITH_CODE.includes(now.kind.word) && shapeOf(before) === shapeOf(now)
}

function shapeOf(type: Definition): string {
  return JSON.stringify(type, (key, value: unknown) => {
    if (key === 'kind') return (value as { word?: string }).word
    return typeof value === 'function' ? String(value) : value
  })
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
