/**
 * Network conditions for datagrams, and the fate of each datagram.
 *
 * The simulated network and the conditioner over real sockets share this code, which is pure except
 * for its generator. Each way gets half of the round trip.
 */

import { HoldfastError, type Millis } from '../machine.ts'
import * as prng from './prng.ts'
import type { Prng } from './prng.ts'

/** The quality of one direction of a path. */
export interface Conditions {
  /** Round trip without jitter; half of it each way; 0 to RTT_MAX. */
  rttMs: Millis
  /** Extra delay of a datagram, drawn evenly from 0 up to this; 0 to JITTER_MAX. */
  jitterMs: Millis
  /** Share of datagrams that are lost, 0 to 1. */
  lossShare: number
  /** Share of datagrams that arrive twice, each copy with its own jitter, 0 to 1. */
  duplicateShare: number
  /** Share of datagrams held back so that later ones overtake them, 0 to 1. */
  reorderShare: number
  /** Mean number of datagrams lost in a row; 1 is memoryless loss; 1 to BURST_MAX. */
  burst: number
}

/** Perfect conditions: no loss, no delay. */
export const PERFECT: Readonly<Conditions> = {
  rttMs: 0,
  jitterMs: 0,
  lossShare: 0,
  duplicateShare: 0,
  reorderShare: 0,
  burst: 1,
}

/** Longest round trip, in milliseconds. */
export const RTT_MAX: Millis = 10_000
/** Most jitter, in milliseconds. */
export const JITTER_MAX: Millis = 10_000
/** Longest mean run of losses. */
export const BURST_MAX = 100
/** Extra delay of a datagram held back: at least this, at most twice this. */
const HELD_MS: Millis = 20

/** The fate of one datagram: the delay of each copy; empty if lost. */
export interface Fate {
  copies: Millis[]
}

/** A path's memory: whether its last datagram was lost. */
export interface Path {
  vanishing: boolean
}

export function createPath(): Path {
  return { vanishing: false }
}

/**
 * Decides one datagram's fate.
 *
 * Burst loss follows Gilbert's two-state model: the bad state loses everything and lasts `burst`
 * datagrams on average; its share of time is the loss share.
 *
 * @param path remembers runs of losses; without it every loss is independent
 */
export function fate(conditions: Conditions, chance: Prng, path: Path | null = null): Fate {
  if (vanishes(conditions, chance, path)) return { copies: [] }
  const copies = [delay(conditions, chance)]
  if (prng.chance(chance, conditions.duplicateShare)) copies.push(delay(conditions, chance))
  return { copies }
}

/**
 * Reads conditions such as `rtt=120,loss=5%,jitter=30,dup=1%,reorder=2%,burst=3`.
 *
 * @param text words in any order, each at most once; `base` supplies the others
 * @throws HoldfastError 'bad-value' that names the word, its limits and the value
 */
export function parse(text: string, base: Readonly<Conditions> = PERFECT): Conditions {
  const conditions = { ...base }
  const given = new Set<string>()
  for (const part of text.split(',')) {
    if (part.trim() === '') continue
    const [name = '', value, ...rest] = part.split('=').map((side) => side.trim())
    const word = WORDS.find((known) => known.name === name)
    if (!word) {
      const known = WORDS.map(({ name: each }) => each).join(', ')
      throw bad(`no condition is called "${name}"; there are ${known}`)
    }
    if (value === undefined || rest.length > 0) {
      throw bad(`condition ${name} is written ${name}=${word.example}: "${part.trim()}"`)
    }
    if (given.has(name)) throw bad(`condition ${name} is given twice: "${text}"`)
    given.add(name)
    conditions[word.field] = readValue(word, value)
  }
  return conditions
}

/** Conditions as `parse` reads them, without the perfect ones. */
export function format(conditions: Readonly<Conditions>): string {
  const parts: string[] = []
  for (const { name, field, share } of WORDS) {
    const value = conditions[field]
    if (value === PERFECT[field]) continue
    parts.push(`${name}=${share ? `${Number((value * 100).toPrecision(12))}%` : value}`)
  }
  return parts.join(',')
}

/** Completes and checks conditions. @throws HoldfastError 'bad-value' that names the field */
export function verify(conditions: Partial<Conditions>): Conditions {
  const whole = { ...PERFECT, ...conditions }
  for (const { field, min, max } of WORDS) {
    const value = whole[field]
    if (!(typeof value === 'number' && value >= min && value <= max)) {
      throw bad(`${field} must be from ${min} to ${max}: ${String(value)}`)
    }
  }
  return whole
}

export function isPerfect(conditions: Readonly<Conditions>): boolean {
  return WORDS.every(({ field }) => field === 'burst' || conditions[field] === PERFECT[field])
}

interface Word {
  name: string
  field: keyof Conditions
  /** The value is written in per cent. */
  share: boolean
  min: number
  max: number
  example: string
}

const WORDS: readonly Word[] = [
  { name: 'rtt', field: 'rttMs', share: false, min: 0, max: RTT_MAX, example: '120' },
  { name: 'loss', field: 'lossShare', share: true, min: 0, max: 1, example: '5%' },
  { name: 'jitter', field: 'jitterMs', share: false, min: 0, max: JITTER_MAX, example: '30' },
  { name: 'dup', field: 'duplicateShare', share: true, min: 0, max: 1, example: '1%' },
  { name: 'reorder', field: 'reorderShare', share: true, min: 0, max: 1, example: '2%' },
  { name: 'burst', field: 'burst', share: false, min: 1, max: BURST_MAX, example: '3' },
]

function readValue(word: Word, text: string): number {
  const { name, share, min, max, example } = word
  const limits = share ? `from 0% to 100%, such as ${name}=${example}` : unitLimits(word)
  const match = /^(\d+(?:\.\d+)?)(%|ms)?$/.exec(text)
  // A bare `loss=5` could mean 5 % or 500 %, so it is refused.
  const unitFits = (match?.[2] === '%') === share
  if (!match || !unitFits) throw bad(`condition ${name} must be ${limits}: "${text}"`)
  const value = share ? Number(match[1]) / 100 : Number(match[1])
  if (value < min || value > max) throw bad(`condition ${name} must be ${limits}: "${text}"`)
  return value
}

function unitLimits({ name, min, max, example }: Word): string {
  const unit = name === 'burst' ? 'datagrams' : 'milliseconds'
  return `from ${min} to ${max} ${unit}, such as ${name}=${example}`
}

function vanishes(conditions: Conditions, chance: Prng, path: Path | null): boolean {
  const { lossShare, burst } = conditions
  if (!path || burst <= 1 || lossShare <= 0 || lossShare >= 1) {
    return prng.chance(chance, lossShare)
  }
  // In equilibrium (1 - loss) * enter = loss * leave. Heavy loss lengthens the runs, since the
  // probability of entering cannot exceed 1.
  const odds = lossShare / (1 - lossShare)
  const leave = Math.min(1 / burst, 1 / odds)
  const enter = odds * leave
  path.vanishing = path.vanishing ? !prng.chance(chance, leave) : prng.chance(chance, enter)
  return path.vanishing
}

function delay(conditions: Conditions, chance: Prng): Millis {
  const { rttMs, jitterMs, reorderShare } = conditions
  let sum = rttMs / 2
  if (jitterMs > 0) sum += prng.next(chance) * jitterMs
  if (prng.chance(chance, reorderShare)) sum += HELD_MS * (1 + prng.next(chance))
  return sum
}

function bad(message: string): HoldfastError {
  return new HoldfastError('bad-value', message)
}
