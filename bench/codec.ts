/**
 * How fast the states of objects become bytes, and bytes states.
 *
 * Each of 1,000 things has x, y and a turn, and all three change every tick. A tick's numbers are
 * encoded, then decoded into what the tick before left; the codecs take turns. What counts is the
 * time on processors, and of all rounds the best quarter: what else runs on the machine may halve
 * what a processor does in a second. Ours has steps of a hundredth in 18 bits and a turn in 12, and
 * writes the number of the object before its fields; the others write float32.
 */

import { type Codec, holdfast, others, type Tick } from './codec/codecs.ts'
import { installPeers, version } from './processes/peers.ts'
import { atLeast, unjudged } from './report.ts'
import type { BenchReport, Goal, Table } from './report.ts'

/** For the list of benches. */
export const about = 'states to bytes and back, beside @colyseus/schema and msgpackr'

const THINGS = 1_000
const TICKS = 20
const ROUNDS = 60
const ROUNDS_QUICK = 10
const WARM = 10
const ENCODES_GOAL = 5e6
const DECODES_GOAL = 6e6

/** What one codec does when it is left in peace. */
interface Figures {
  name: string
  /** Objects a second of processor. */
  encodes: number
  decodes: number
  /** Of one object. */
  bytes: number
}

/** One round of one codec. */
interface Score {
  encode: number
  decode: number
  bytes: number
}

/** Measures; `quick` takes a sixth of the rounds and judges nothing. */
export async function run({ quick }: { quick: boolean }): Promise<BenchReport> {
  await installPeers()
  const codecs = [holdfast(THINGS), ...(await others(THINGS))]
  const scores = codecs.map((): Score[] => [])
  const rounds = WARM + (quick ? ROUNDS_QUICK : ROUNDS)
  for (let round = 0; round < rounds; round++) {
    for (const [at, codec] of codecs.entries()) {
      const score = measured(codec, round)
      if (round >= WARM) scores[at]!.push(score)
    }
  }
  const figures = codecs.map(({ name }, at) => figuresOf(name, scores[at]!))
  const goals = goalsOf(figures[0]!)
  return { tables: [table(figures)], goals: quick ? goals.map(unjudged) : goals, notes: notes() }
}

function measured(codec: Codec, round: number): Score {
  const score = { encode: 0, decode: 0, bytes: 0 }
  for (let n = 0; n < TICKS; n++) {
    const tick = tickOf(round * TICKS + n)
    codec.prepare?.(tick)
    const start = processorTime()
    const bytes = codec.encode(tick)
    const encoded = processorTime()
    codec.decode(bytes)
    const end = processorTime()
    score.encode += encoded - start
    score.decode += end - encoded
    score.bytes += bytes.length
    check(codec, tick)
  }
  return score
}

function tickOf(n: number): Tick {
  const tick: Tick = { x: [], y: [], turn: [] }
  for (let i = 0; i < THINGS; i++) {
    tick.x.push(Math.fround(i + ((n * 13 + i) % 997) * 0.07))
    tick.y.push(Math.fround(i - ((n * 7 + i) % 997) * 0.09))
    tick.turn.push(Math.fround(((n * 5 + i) % 628) * 0.01))
  }
  return tick
}

// What came out is what went in, or the figures are of something else.
function check(codec: Codec, tick: Tick): void {
  for (const i of [0, THINGS >> 1, THINGS - 1]) {
    const [x, y, turn] = codec.decoded(i)
    const off = Math.max(Math.abs(x - tick.x[i]!), Math.abs(y - tick.y[i]!))
    const round = Math.abs(turn - tick.turn[i]!) % (2 * Math.PI)
    if (!(off < 0.006 && Math.min(round, 2 * Math.PI - round) < 0.001)) {
      throw new Error(`${codec.name} gave back ${x} ${y} ${turn} as thing ${i}`)
    }
  }
}

// In ms, with what the collector of garbage takes.
function processorTime(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}

function figuresOf(name: string, scores: readonly Score[]): Figures {
  const updates = THINGS * TICKS
  const quarter = (what: (score: Score) => number): number =>
    scores.map(what).toSorted((a, b) => a - b)[scores.length >> 2]!
  return {
    name,
    encodes: (1_000 * updates) / quarter(({ encode }) => encode),
    decodes: (1_000 * updates) / quarter(({ decode }) => decode),
    bytes: quarter(({ bytes }) => bytes) / updates,
  }
}

function table(figures: readonly Figures[]): Table {
  return {
    title: 'an object of three numbers, all changed: millions in a second of processor',
    columns: ['codec', 'encodes', 'decodes', 'bytes of one'],
    rows: figures.map(({ name, encodes, decodes, bytes }) => [
      name,
      Number((encodes / 1e6).toPrecision(3)),
      Number((decodes / 1e6).toPrecision(3)),
      Number(bytes.toFixed(1)),
    ]),
  }
}

function goalsOf({ encodes, decodes }: Figures): Goal[] {
  return [
    atLeast('encodes of an object', encodes, ENCODES_GOAL, '/s'),
    atLeast('decodes of an object', decodes, DECODES_GOAL, '/s'),
  ]
}

function notes(): string[] {
  return [
    `Peers: ${['@colyseus/schema', 'msgpackr'].map(version).join(', ')}.`,
    'Ours takes an object of the application, compares and encodes; setting the numbers of',
    '@colyseus/schema is part of its encoding, for they find out what changed; msgpackr packs all',
    'there is, with records.',
  ]
}
