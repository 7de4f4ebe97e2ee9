// Goal: the snippets of the docs do what they say they do, as they stand there.
// Method: each that needs nothing but Holdfast is the program of two windows in virtual time, one
// of which is killed; of the page around it only the names are there. Slow: so many sessions.
import { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type JoinOptions, membersStore, type ObjectType, type Session, type Store } from 'holdfast'
import { SessionProvider } from 'holdfast/react'
import { type SessionWorld, world } from 'holdfast/sim'
import { createElement, type FunctionComponent, type ReactElement } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import type { Readable } from 'svelte/store'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { nameOf, type Snippet, snippets, writeSnippets } from './snippets.ts'

/** What a snippet may import to run here. */
const RUNS = /^(holdfast|holdfast\/(part|sim|yjs)|vitest)$/

/** Snippets that run elsewhere, or need what is not here, and why. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  'docs-deploy-md-3': 'test/e2e/two-hubs.test.ts',
  'docs-guide-mailbox-md-0': 'test/conformance/mailbox-snippet.test.ts',
  'docs-recipes-act-elsewhere-for-each-letter-md-0': 'games/examples/mailbox/postgres.ts',
  'docs-recipes-act-elsewhere-for-each-letter-md-1': 'games/examples/mailbox/http.ts',
  'README-md-1': 'a configuration: test/e2e/vite.test.ts',
  'docs-guide-developing-md-0': 'a configuration: test/e2e/vite.test.ts',
  'docs-guide-react-md-0': 'test/e2e/hooks.test.ts has the hooks',
  'docs-guide-react-md-1': 'below',
  'docs-recipes-use-svelte-or-vue-md-0': 'test/e2e/frameworks.test.ts has Svelte',
  'docs-recipes-use-svelte-or-vue-md-1': 'a store of Svelte: below',
  'docs-recipes-use-svelte-or-vue-md-2': 'games/examples/vue/use-store.test.ts',
  'docs-deploy-md-0': 'test/e2e/deploy.test.ts',
  'docs-deploy-md-2': 'test/e2e/deploy.test.ts',
  'docs-recipes-log-in-with-an-identity-provider-md-0': 'test/conformance/login.test.ts',
  'docs-recipes-use-with-next-js-md-0': 'test/e2e/server-rendering.test.ts has such an app',
  'docs-recipes-find-a-match-md-0': 'below',
  'docs-recipes-find-a-match-md-1': 'below',
}

/** Snippets that look on: who is in their room already. */
const BEFORE: Readonly<Record<string, JoinOptions>> = {
  'docs-guide-people-md-0': { game: 'tabletop', room: 'friday' },
}
/** Snippets that a second window may not run, and why. */
const REFUSED: Readonly<Record<string, string>> = {
  'docs-recipes-invite-players-to-a-private-room-md-0': 'this room is by invitation',
  'docs-recipes-save-and-load-a-room-md-0': 'tabletop/another is there already',
}
/** Lines that the second window of a snippet writes. */
const SAYS: Readonly<Record<string, readonly RegExp[]>> = {
  'docs-guide-calls-md-0': [/^[1-6]$/],
  'docs-recipes-write-a-part-of-your-own-md-0': [/^rung$/],
  'docs-recipes-add-a-chat-md-0': [/^Ada: hello\nAda: hello$/],
  'docs-recipes-add-bots-md-0': [/^Ada, Ada, Bot 1$/],
  'docs-recipes-build-an-arena-md-0': [/^hit$/, /^Ada 0$|^player 410,300$/],
  'docs-recipes-deal-cards-md-0': [/^\d+(,\d+){4}$/, /^on the table$/],
  'docs-recipes-draw-on-a-whiteboard-md-0': [/^black 10,10,20,15$/],
  'docs-recipes-edit-a-list-together-md-0': [/ 2$/],
  'docs-recipes-keep-a-scoreboard-md-0': [/^Ada 1$/, /^Ada 1$/],
  'docs-recipes-let-others-watch-md-0': [/^true 2$/, /^2 of 4 watch$/],
  'docs-recipes-show-cursors-and-presence-md-0': [/^Ada \(away\) 30.4px 0.067$/, /^Ada, Ada$/],
}

interface Stage {
  join: (options: JoinOptions) => Promise<Session>
  test: (title: string, run: () => Promise<void>) => void
  expect: typeof expect
}

const all = snippets()
const runnable = all.filter((snippet) => !(nameOf(snippet) in ELSEWHERE) && isAlone(snippet))

let w: SessionWorld
let sessions: Session[] = []
let frames: (() => void)[] = []
let listeners: Map<string, ((event: unknown) => void)[]>
let tests: (() => Promise<void>)[] = []
let lines: string[] = []

beforeEach(() => {
  w = world({ seed: 41, conditions: 'rtt=40' })
  sessions = []
  frames = []
  tests = []
  lines = []
  listeners = new Map()
  const stage: Stage = {
    join: async (options) => {
      const session = await w.join(options, { kind: 'browser' })
      sessions.push(session)
      return session
    },
    test: (_title, run) => void tests.push(run),
    expect,
  }
  vi.stubGlobal('stage', stage)
  vi.spyOn(console, 'log').mockImplementation((...all) => void lines.push(all.join(' ')))
  stubPage()
})
afterEach(() => {
  vi.unstubAllGlobals()
  vi.restoreAllMocks()
})

/** What a page has: anything is there, and does nothing. */
function stubPage(): void {
  const nothing: object = new Proxy(() => {}, {
    get: (_, name) => (name === Symbol.toPrimitive ? () => 0 : nothing),
    set: () => true,
    apply: () => nothing,
  })
  vi.stubGlobal('document', nothing)
  vi.stubGlobal('innerWidth', 800)
  vi.stubGlobal('innerHeight', 600)
  vi.stubGlobal('confirm', () => true)
  vi.stubGlobal('location', new URL('https://play.example.com/?room=friday'))
  vi.stubGlobal('localStorage', { getItem: () => null, setItem: () => {} })
  vi.stubGlobal('requestAnimationFrame', (run: () => void) => void frames.push(run))
  vi.stubGlobal('addEventListener', (name: string, listener: (event: unknown) => void) => {
    listeners.set(name, [...(listeners.get(name) ?? []), listener])
  })
  for (const name of EVENTS) vi.stubGlobal(`on${name}`, null)
}

const EVENTS = ['pointermove', 'keydown', 'blur', 'click', 'pagehide']

/** Some frames, and one of each event of a page. */
function use(): void {
  for (let n = 0; n < 3; n++) for (const run of frames.splice(0)) run()
  const event = { offsetX: 10, offsetY: 20, clientX: 30, clientY: 40, key: 'a' }
  for (const name of EVENTS) {
    const own = (globalThis as unknown as Record<string, unknown>)[`on${name}`]
    if (typeof own === 'function') (own as (event: unknown) => void)(event)
    for (const listener of listeners.get(name) ?? []) listener(event)
  }
}

/** The snippet with `join` and `test` of this stage. */
function staged({ code, language }: Snippet): string {
  let names: string[] = []
  const rest = code.replaceAll(
    /^import \{([^}]*)\} from '(holdfast|vitest)'$/gm,
    (_, list, from) => {
      const given = String(list)
        .split(',')
        .map((name) => name.trim())
      const taken = given.filter((name) => from === 'vitest' || name === 'join')
      names = [...names, ...taken]
      const left = given.filter((name) => !taken.includes(name) && name !== '')
      return left.length > 0 ? `import { ${left.join(', ')} } from 'holdfast'` : ''
    },
  )
  if (names.length > 0) return `const { ${names.join(', ')} } = globalThis.stage\n${rest}`
  return language === 'tsx' ? `/** @jsxImportSource react */\n${rest}` : rest
}

/** Lets time pass until something is done. */
async function driven<Value>(promise: Promise<Value>): Promise<Value> {
  let isDone = false
  const watched = promise.finally(() => (isDone = true))
  watched.catch(() => {})
  while (!isDone) {
    await w.run(20)
    await new Promise((resolve) => setImmediate(resolve))
  }
  return watched
}

/** Whether a snippet needs nothing but Holdfast. */
function isAlone({ code }: Snippet): boolean {
  const from = [...code.matchAll(/ from '([^']+)'/g)].map(([, name = '']) => name)
  return from.every((name) => RUNS.test(name))
}

/** Loads a program, and lets time pass until it has come to its end. */
function run(file: string): Promise<Record<string, unknown>> {
  return driven(import(file) as Promise<Record<string, unknown>>)
}

const ada = writeSnippets('snippets/ada', all, staged)
const grace = writeSnippets('snippets/grace', all, staged)

function fileOf(end: string): string {
  return ada[all.findIndex((snippet) => nameOf(snippet).endsWith(end))]!
}

async function listening(server: Server): Promise<AddressInfo> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return server.address() as AddressInfo
}

test('each runs here, or is in the list of those that run elsewhere', () => {
  const names = all.map(nameOf)
  const others = names.filter((name) => !(name in ELSEWHERE))
  expect(others.filter((name) => !runnable.map(nameOf).includes(name))).toEqual([])
  expect(Object.keys(ELSEWHERE).filter((name) => !names.includes(name))).toEqual([])
  expect(runnable.length).toBeGreaterThan(25)
})

test.each(runnable.map((snippet) => [nameOf(snippet), all.indexOf(snippet)] as const))(
  '%s runs in two windows, and goes on when one is killed',
  async (name, index) => {
    if (BEFORE[name]) await w.join(BEFORE[name])
    await run(ada[index]!)
    await w.run(1_000)
    const before = sessions.length
    lines = []
    if (REFUSED[name] !== undefined) {
      await expect(run(grace[index]!)).rejects.toThrow(REFUSED[name])
      return
    }
    await run(grace[index]!)
    await w.run(1_000)
    use()
    await w.run(1_000)
    for (const one of tests.splice(0)) await driven(one())
    const [victim] = sessions
    if (victim && before > 0) w.kill(victim)
    listeners.clear()
    frames = []
    await w.run(8_000)
    const others = sessions.slice(before).filter(({ status }) => status !== 'lost')
    for (const { status, primary } of others) {
      expect([status, primary?.inc]).toEqual(['live', expect.any(Number)])
      expect(primary!.inc).not.toBe(victim?.me.inc)
    }
    for (const said of SAYS[name] ?? []) expect(lines).toContainEqual(expect.stringMatching(said))
    expect(w.reported).toEqual([])
  },
)

describe('of the recipe for matches', () => {
  test('the server gives a room that is open, and the page joins it', async () => {
    const [route, page] = [fileOf('find-a-match-md-0'), fileOf('find-a-match-md-1')]
    const listen = vi.spyOn(Server.prototype, 'listen').mockReturnThis()
    await import(route)
    const server = listen.mock.contexts[0] as Server
    listen.mockRestore()
    const { port } = await listening(server)
    const fetched = globalThis.fetch
    vi.stubGlobal('fetch', (path: string) => fetched(`http://127.0.0.1:${port}${path}`))
    const { findMatch } = (await run(page)) as { findMatch: () => Promise<Session> }
    expect((await driven(findMatch())).status).toBe('live')
    server.close()
  })
})

test('the components of the guide to React show who is here, and who edits', async () => {
  const { Editing, edit, Here, Editors } = (await import(fileOf('guide-react-md-1'))) as {
    Editing: ObjectType
    edit: (session: Session, card: string) => void
    Here: FunctionComponent
    Editors: FunctionComponent<{ card: string }>
  }
  const shown = (session: Session, component: ReactElement): string => {
    return renderToStaticMarkup(createElement(SessionProvider, { session }, component))
  }
  const editors = createElement(Editors, { card: '7' })
  const options = { game: 'cards', types: [Editing] }
  const [ada, grace] = [
    await w.join({ ...options, name: 'Ada' }),
    await w.join({ ...options, name: 'Grace' }),
  ]
  edit(ada, '7')
  await w.run(3_000)
  expect(shown(grace, createElement(Here))).toBe('<p>Here: Ada · serves, Grace (you)</p>')
  expect([ada, grace].map((one) => shown(one, editors))).toEqual([
    '',
    '<small>Editing: Ada</small>',
  ])
  edit(ada, '8')
  await w.run(500)
  expect(shown(grace, editors)).toBe('')
  edit(ada, '7')
  await w.run(500)
  expect(shown(grace, editors)).not.toBe('')
  w.kill(ada)
  await w.run(12_000)
  expect(shown(grace, createElement(Here))).toBe('<p>Here: Grace (you) · serves</p>')
  expect(shown(grace, editors)).toBe('')
})

test('a store of Svelte has the newest value, from the first subscription on', async () => {
  const { readableOf } = (await import(fileOf('use-svelte-or-vue-md-1'))) as {
    readableOf: <Item>(store: Store<Item>) => Readable<Item>
  }
  const session = await w.join({ game: 'stores' })
  const members = readableOf(membersStore(session))
  await w.join({ game: 'stores', name: 'Grace' })
  await w.run(500)
  const seen: number[] = []
  const stop = members.subscribe(({ length }) => void seen.push(length))
  expect(seen.at(-1)).toBe(2)
  await w.join({ game: 'stores', name: 'Linus' })
  await w.run(500)
  expect(seen.at(-1)).toBe(3)
  stop()
})
