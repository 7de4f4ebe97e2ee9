// Goal: a player who asks the primary for too much waits, the others do not; and nothing of what
// waits is lost, done twice or done in another order.
// Method: the shipped verbs of one primary, by hand, in steps of its clock; and the same with rules
// that are wrong on purpose, to see that each claim breaks.
import { describe, expect, test } from 'vitest'
import { type PeerId, rulesOf, termOf } from '../../packages/holdfast/src/machine.ts'
import { NO_PARTS } from '../../proof/models/processes.ts'
import * as membership from '../../packages/holdfast/src/session/membership.ts'
import * as machine from '../../packages/holdfast/src/session/session.ts'
import { RULES } from '../../packages/holdfast/src/session/session.ts'
import { charge, rateOf } from '../../packages/holdfast/src/session/operations.ts'
import type {
  Session,
  SessionOut,
  SessionRules,
} from '../../packages/holdfast/src/session/state.ts'
import { calmly } from '../calmly.ts'
import { listening, memberOf, primaryOf } from './scene.ts'

const ADA = 1
const GRACE = 2
const LINUS = 3
/** A second’s worth at this table, of which two are there at the start. */
const RATE = 50
const STEP = 10
/** What is asked for so is refused. */
const NONSENSE = 9

/** One primary, Ada, and two who ask. */
class Table {
  now = 0
  readonly own: Session = primaryOf(3).session
  /** What was performed: of whom, in order, and when. */
  readonly done: { by: PeerId; seq: number; at: number }[] = []
  readonly answers: [to: PeerId, seq: number][] = []
  readonly #out: SessionOut

  constructor(rules: Partial<SessionRules> = {}) {
    this.own.rules = rulesOf({ ...RULES, ...rules })
    this.own.terms = `objects=3;operations=${RATE}`
    this.own.hub = { up: false, since: 0 }
    this.#out = {
      ...listening().out,
      send: (to, message) => {
        if (message.kind === 'done') this.answers.push([to, message.seq])
      },
      parts: {
        ...NO_PARTS,
        perform: (_part, body, { inc }) => {
          this.done.push({ by: inc, seq: body[1]! * 256 + body[2]!, at: this.now })
          const refused = body[0] === NONSENSE
          return { outcome: Uint8Array.of(1), refused, changes: [], news: [] }
        },
      },
    }
  }

  ask(from: PeerId, seq: number, what = 0, length = 3): void {
    const body = new Uint8Array(length)
    body.set([what, seq >> 8, seq & 255])
    const message = { kind: 'operation', seq, part: 5, body } as const
    calmly(() =>
      machine.receive({ session: this.own, now: this.now, out: this.#out }, from, message),
    )
  }

  /** One after the other, from a first one to a last. */
  flood(from: PeerId, first: number, last: number, what = 0): void {
    for (let seq = first; seq <= last; seq++) this.ask(from, seq, what)
  }

  /** Time passes, and who is here is heard. */
  pass(ms: number, each: () => void = () => {}): void {
    for (const until = this.now + ms; this.now < until;) {
      this.now += STEP
      for (const peer of [GRACE, LINUS])
        machine.markAlive({ session: this.own, now: this.now, out: this.#out }, peer)
      if (machine.deadline(this.own) <= this.now)
        machine.wake({ session: this.own, now: this.now, out: this.#out })
      each()
    }
  }

  leave(inc: PeerId): void {
    calmly(() =>
      membership.remove({ session: this.own, now: this.now, out: this.#out }, inc, 'left'),
    )
  }

  of(by: PeerId): number[] {
    return this.done.filter((one) => one.by === by).map(({ seq }) => seq)
  }
}

function upTo(last: number): number[] {
  return Array.from({ length: last }, (_, at) => at + 1)
}

describe('a player who asks for 1,000 operations at once', () => {
  /** How many of Grace's are done before Linus' first, and how late the latest of his is. */
  function beside(graceFirst: boolean, rules: Partial<SessionRules> = {}) {
    const table = new Table(rules)
    if (graceFirst) table.flood(GRACE, 1, 1_000)
    const asked: number[] = []
    const ask = (): void => {
      asked.push(table.now)
      table.ask(LINUS, asked.length)
    }
    ask()
    if (!graceFirst) table.flood(GRACE, 1, 1_000)
    // He plays on, 20 times a second; she goes on, as one does who knows of no limit.
    table.pass(2_000, () => {
      if (table.now % 50 === 0) ask()
      table.flood(GRACE, 1, 1_000)
    })
    const his = table.done.filter(({ by }) => by === LINUS)
    const late = Math.max(...his.map(({ seq, at }) => at - asked[seq - 1]!))
    const before = table.done.findIndex(({ by }) => by === LINUS)
    return { table, late, before, done: his.length, asked: asked.length }
  }
  test.each([true, false])('holds nobody else up (hers first: %s) (SE-10)', (graceFirst) => {
    const { table, late, before, done, asked } = beside(graceFirst)
    expect([late, done]).toEqual([0, asked])
    expect(before).toBe(graceFirst ? 2 * RATE : 0)
    // In two seconds she gets what she may have, and not one more: twice that were there.
    expect(table.of(GRACE).length).toBeLessThanOrEqual(4 * RATE)
    expect(table.own.pushedBack).toBeGreaterThan(0)
  })
  test('would be done before his if nobody counted (SE-10)', () => {
    expect(beside(true, { cost: () => 0 }).before).toBe(1_000)
  })
  test('has them all done in the end, each once and in order, at the rate of one player (SE-10)', () => {
    const table = new Table()
    const asAClient = (): void => {
      const last = table.of(GRACE).length
      // 64 are under way, and all of them are asked for again and again.
      table.flood(GRACE, last + 1, Math.min(1_000, last + 64))
    }
    asAClient()
    table.pass(18_500, asAClient)
    expect(table.of(GRACE)).toEqual(upTo(1_000))
    expect(table.answers.filter(([to]) => to === GRACE).map(([, seq]) => seq)).toEqual(upTo(1_000))
    for (const { seq, at } of table.done) {
      expect(seq).toBeLessThanOrEqual(2 * RATE + (at * RATE) / 1_000)
    }
    expect(table.own.server).toMatchObject({ lead: { waitingAt: Infinity } })
  })
  test('has 64 of them wait here, and 256 KB of them; the others stay with it (SE-10)', () => {
    const waiting = ({ own }: Table): number => {
      return 'lead' in own.server ? (own.server.lead.waiting.get(GRACE)?.length ?? 0) : -1
    }
    const many = new Table()
    many.flood(GRACE, 1, 1_000)
    expect([many.of(GRACE).length, waiting(many)]).toEqual([2 * RATE, 64])
    const large = new Table()
    large.flood(GRACE, 1, 2 * RATE)
    for (let seq = 2 * RATE + 1; seq <= 300; seq++) large.ask(GRACE, seq, 0, 16_384)
    expect(waiting(large)).toBe(16)
    large.pass(2_000)
    expect(large.of(GRACE)).toEqual(upTo(2 * RATE + 16))
  })
  test('pays for answers that it asks for again, too (SE-10)', () => {
    const table = new Table()
    table.ask(GRACE, 1)
    for (let at = 0; at < 1_000; at++) table.ask(GRACE, 1)
    expect([table.of(GRACE), table.answers.length]).toEqual([[1], 2 * RATE])
    table.pass(1_000)
    table.ask(GRACE, 1)
    expect(table.answers.length).toBe(2 * RATE + 1)
  })
})

describe('who sends nothing but what is refused', () => {
  function refusedBeside(rules: Partial<SessionRules> = {}): [at: number, table: Table] {
    const table = new Table(rules)
    table.flood(GRACE, 1, 1_000, NONSENSE)
    const atOnce = table.done.length
    table.flood(LINUS, 1, 2 * RATE)
    return [atOnce, table]
  }
  test('pays four times for it, and nobody else does (SE-10)', () => {
    const [atOnce, table] = refusedBeside()
    expect(atOnce).toBe((2 * RATE) / 4)
    expect(table.of(LINUS)).toEqual(upTo(2 * RATE))
    // The 64 that wait are done at a quarter of the rate; an honest one behind them waits, too.
    table.pass(2_000)
    expect(table.of(GRACE).length).toBe((4 * RATE) / 4)
    const last = table.of(GRACE).length
    table.ask(GRACE, 25 + 64 + 1)
    table.pass(6_000)
    expect(table.of(GRACE).length).toBeGreaterThan(last)
    expect(table.of(GRACE)).toEqual(upTo(table.of(GRACE).length))
  })
  test('would pay no more than others if refusals were free (SE-10)', () => {
    const free: SessionRules['cost'] = (what) => (what === 'refusal' ? 0 : 1)
    expect(refusedBeside({ cost: free })[0]).toBe(2 * RATE)
  })
})

describe('a player in two processes', () => {
  function together(rules: Partial<SessionRules> = {}): number {
    const table = new Table(rules)
    table.own.server.durable.members.get(LINUS)!.player = GRACE
    table.flood(GRACE, 1, 60)
    table.flood(LINUS, 61, 200)
    return table.done.length
  }
  test('has one allowance (SE-10)', () => {
    expect(together()).toBe(2 * RATE)
  })
  test('would have two if each member had its own (SE-10)', () => {
    expect(together({ account: ({ inc }) => inc })).toBe(60 + 2 * RATE)
  })
})

describe('what waits', () => {
  test('is dropped with the member that asked, whose player asks again as another (SE-10)', () => {
    const table = new Table()
    table.flood(GRACE, 1, 2 * RATE + 10)
    table.leave(GRACE)
    table.pass(1_000)
    expect(table.of(GRACE)).toEqual(upTo(2 * RATE))
    // It comes back as member 4, of the same player: with the bucket that it left.
    const { durable: own } = table.own.server
    own.members.set(4, { ...own.members.get(LINUS)!, inc: 4, player: GRACE })
    table.flood(4, 2 * RATE + 1, 2 * RATE + 60)
    expect(table.of(4).length).toBe(RATE)
    table.pass(1_000)
    expect(table.of(4)).toEqual(upTo(60).map((at) => at + 2 * RATE))
  })
  test('stays while the backup lacks too much of the log (SE-10)', () => {
    const table = new Table()
    table.flood(GRACE, 1, 2 * RATE + 10)
    const { log } = table.own.server
    log.bytes = 2 ** 22 + 1
    table.pass(1_000)
    expect(table.of(GRACE)).toEqual(upTo(2 * RATE))
    log.bytes = 0
    table.pass(STEP)
    expect(table.of(GRACE)).toEqual(upTo(2 * RATE + 10))
  })
})

describe('what is not charged', () => {
  test('is what the primary asks of itself (SE-10)', () => {
    const table = new Table()
    table.flood(ADA, 1, 1_000)
    expect(table.of(ADA)).toEqual(upTo(1_000))
  })
  test('is an honest game: 60 operations a second, all of them refused, for a minute (SE-10)', () => {
    const table = new Table()
    table.own.terms = ''
    let seq = 0
    table.pass(60_000, () => {
      // Three of each 50 ms, by a network that presses them together.
      if (table.now % 50 === 0) for (let at = 0; at < 3; at++) table.ask(GRACE, ++seq, NONSENSE)
    })
    expect([table.of(GRACE).length, table.own.pushedBack]).toEqual([3_600, 0])
  })
  test('is anything where nobody serves, or of who is no member (SE-10)', () => {
    const { own } = memberOf(3)
    for (let at = 0; at < 5_000; at++) expect(charge(own, 0, GRACE, 'operation')).toBe(true)
    const table = new Table()
    for (let at = 0; at < 5_000; at++) expect(charge(table.own, 0, 9, 'operation')).toBe(true)
    expect(table.own.server).toMatchObject({ lead: { allowances: new Map() } })
  })
})

test('what waits is counted once, when it is pushed back, and not each time it is tried (PR-2)', () => {
  const { own } = new Table()
  const taken = (what: 'operation' | 'again'): number => {
    let count = 0
    while (count < 1_000 && charge(own, 0, GRACE, what)) count++
    return count
  }
  expect([taken('operation'), own.pushedBack]).toEqual([2 * RATE, 1])
  expect([taken('again'), own.pushedBack]).toEqual([0, 1])
})

test.each([
  ['', 500],
  ['operations=7', 7],
  ['objects=3;operations=9;more=1', 9],
  ['operations=', 500],
  ['operations=x', 500],
  ['myoperations=3', 500],
])('terms "%s" are %i operations a second (SE-10)', (terms, perSecond) => {
  expect(rateOf(terms)).toEqual({ max: 2 * perSecond, perSecond })
  expect(termOf(terms, 'objects')).toBe(terms.startsWith('objects') ? 3 : undefined)
})
