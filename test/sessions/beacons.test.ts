// Goal: a page's goodbye counts where the browser drops what the page sends on its stream at its
// end, and counts once where both ways deliver it, whichever is first.
// Method: whole sessions in virtual time with the shipped hub; the streams of pages lose what is
// said at their end, or are closed before it, and what is said beside them reaches the hub.
import { describe, expect, test } from 'vitest'
import { joinIn } from '../../packages/holdfast/src/join/join.ts'
import { action } from '../../packages/holdfast/src/index.ts'
import type { InternalSession as Session } from '../../packages/holdfast/src/join/session-impl.ts'
import type { Environment, Stream, StreamEvents } from '../../packages/holdfast/src/ports.ts'
import {
  environmentOf,
  HUB_URL,
  type SessionWorld,
  world,
} from '../../packages/sim/src/session-world.ts'
import { act } from './acting.ts'

const add = action('add', (table, [what]: [string]) => {
  table.set(what, ((table.get(what) as number | undefined) ?? 0) + 1)
  return table.get(what) as number
})
const LARGE = 900
const fill = action('fill', (table, [what]: [string]) => table.set(what, 'x'.repeat(LARGE)))
const wish = { game: 'garden', room: 'r', types: [add, fill], server: HUB_URL }

/** What becomes of the stream of a page that ends. */
type Fate = 'closed before' | 'loses all' | 'delivers'

/** A page, whose stream may lose what it says at its end. */
class Page {
  readonly session: Promise<Session>
  readonly #w: SessionWorld
  readonly #streams: { stream: Stream; events: StreamEvents }[] = []
  isMute = false
  /** Bytes of what was said beside the stream. */
  said = 0
  /** How many the hub took. */
  taken = 0

  /** @param beaconMs  how long what is said beside the stream takes; null where nothing can be */
  constructor(w: SessionWorld, name: string, beaconMs: number | null, token: string = '') {
    this.#w = w
    const environment = environmentOf(w.sim.node(name), 'browser')
    this.#bend(environment, beaconMs)
    this.session = joinIn(environment, { ...wish, ...(token && { token }) })
    this.session.catch(() => {})
  }

  #bend(environment: Environment, beaconMs: number | null): void {
    const { connect, loop } = environment
    environment.connect = (url, events) => {
      const stream = connect(url, events)
      this.#streams.push({ stream, events })
      return { ...stream, send: (bytes) => this.isMute || stream.send(bytes) }
    }
    if (beaconMs === null) return
    environment.beacon = (url, body) => {
      if (url !== HUB_URL) throw new Error(`a beacon to ${url}`)
      this.said = body.length
      const alarm = loop.alarm(() => {
        if (this.#w.hub()!.beacon(body, { remote: '192.0.2.7' })) this.taken++
      })
      alarm.set(loop.now() + beaconMs)
      return true
    }
  }

  /** The page is reloaded. */
  async ends(fate: Fate): Promise<void> {
    const { stream, events } = this.#streams.at(-1)!
    if (fate === 'closed before') {
      stream.close()
      events.closed('the page goes (1001)')
    }
    this.isMute = fate === 'loses all'
    ;(await this.session).end('the page is gone')
  }
}

/** Pages of one room that have acted end together, and come back. @returns ms until all are in */
async function reloaded(
  fate: Fate,
  { count, rtt, beaconMs }: { count: number; rtt: number; beaconMs: number | null },
  after: (w: SessionWorld, session: Session) => Promise<void> = async () => {},
): Promise<{ ms: number; pages: Page[]; w: SessionWorld }> {
  const w = world({ seed: 7, conditions: `rtt=${rtt}` })
  const pages: Page[] = []
  const all: Session[] = []
  for (const at of Array.from({ length: count }).keys()) {
    pages.push(new Page(w, `page-${at}`, beaconMs))
    all.push(await act(w, pages[at]!.session))
  }
  const safety = count === 1 ? 'kept' : 'backed-up'
  await w.runUntil(() => all.every((one) => one.safety === safety), 10_000)
  for (const one of all) expect((await act(w, one.act(add, ['pins']))).ok).toBe(true)
  await after(w, all[0]!)
  const begun = w.now()
  for (const page of pages) await page.ends(fate)
  // The pages are loaded anew when what they said has arrived.
  await w.run(Math.max(rtt, beaconMs ?? 0))
  const back = all.map(({ token }, at) => new Page(w, `again-${at}`, beaconMs, token).session)
  const sessions = await act(w, Promise.all(back))
  expect(sessions.map(({ me }) => me.player)).toEqual(all.map(({ me }) => me.player))
  const haveAll = (): boolean => sessions.every(({ table }) => table.get('pins') === count)
  expect(await w.runUntil(haveAll, 60_000)).toBe(true)
  expect(pages.map(({ taken }) => taken)).toEqual(pages.map(() => Number(beaconMs !== null)))
  return { ms: w.now() - begun, pages, w }
}

const COUNTS = [1, 2, 3]
const WAYS = [10, 80].flatMap((rtt) => [1, 60].map((beaconMs) => ({ rtt, beaconMs })))
const CASES = COUNTS.flatMap((count) => WAYS.map((way) => ({ count, ...way })))

describe('pages that are reloaded together are in again at once', () => {
  describe.each<Fate>(['closed before', 'loses all', 'delivers'])('whose stream %s', (fate) => {
    test.each(CASES)('$count of them, rtt $rtt, $beaconMs ms to the hub (N-1)', async (way) => {
      const { ms } = await reloaded(fate, way)
      expect(ms).toBeLessThan(1_500)
    })
  })
})

// Each time the primary hears of the goodbye at another moment: before it asks the hub to name that
// page as its backup, while that is under way, and after.
test('a page that is reloaded at any moment after it joined is in again at once (N-1)', async () => {
  for (let after = 0; after < 400; after += 10) {
    const w = world({ seed: 7, conditions: 'rtt=20' })
    await act(w, new Page(w, 'Ada', 1).session)
    const page = new Page(w, 'Grace', 1)
    const { token } = await act(w, page.session)
    await w.run(after)
    await page.ends('delivers')
    const begun = w.now()
    const back = await act(w, new Page(w, 'again', 1, token).session)
    expect(back.me.player).toBe(2)
    expect(w.now() - begun, `${after} ms after it joined`).toBeLessThan(1_500)
  }
})

test('without another way a room whose pages say no goodbye waits as after deaths (N-1)', async () => {
  const way = { count: 2, rtt: 10, beaconMs: null }
  // What was acknowledged is on disk by then.
  const { ms } = await reloaded('closed before', way, (w) => w.run(500))
  expect(ms).toBeGreaterThan(5_000)
})

test('what the disk lacks is said again; what it has is not (N-1)', async () => {
  const way = { count: 1, rtt: 80, beaconMs: 1 }
  const all = await reloaded('loses all', way, (w) => w.run(2_000))
  const lacking = await reloaded('loses all', way, async (w, session) => {
    void session.act(add, ['late'])
    await w.run(5)
  })
  expect(all.pages[0]!.said).toBeLessThan(150)
  expect(lacking.pages[0]!.said).toBeGreaterThan(all.pages[0]!.said + 50)
})

// A browser takes 64 KiB.
test('a room too large to be said again waits, and has what the disk had (N-1)', async () => {
  const w = world({ seed: 7, conditions: 'rtt=80' })
  const page = new Page(w, 'page', 1)
  const session = await act(w, page.session)
  for (let at = 0; at < 80; at++) {
    expect(await act(w, session.act(fill, [`row ${at}`]))).toMatchObject({ ok: true })
  }
  void session.act(add, ['late'])
  await w.run(1)
  await page.ends('loses all')
  expect(page.said).toBe(0)
  const back = await act(w, new Page(w, 'again', 1, session.token).session)
  expect(back.table.get('row 79')).toHaveLength(LARGE)
})
