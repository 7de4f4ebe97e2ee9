/**
 * The remedies that were weighed and rejected, and what each would have cost in exactly this
 * picture: sums over the times at which the messages of the first form arrive.
 */

import { type Arrow, draw, type Picture, PROMPT_MS } from './picture.ts'
import type { Scenario, Wishes } from './scenarios.ts'

/** An unacked message is sent again after so long. */
export const RESEND_MS = 100

/** What a remedy would have cost here. */
export interface Costs {
  /** Global order, acks of messages, a queue: how long each message waits at X, by name. */
  waits: readonly { name: string; from: string; ms: number }[]
  /** Most that wait at once. */
  parked: number
  /** Sent again because X keeps its ack back. */
  resent: number
  /** Messages to X, each with an ack of its own. */
  acks: number
  /** Messages of the migrations with a handshake, and as Holdfast does it. */
  handshake: number
  holdfast: number
  /** The longest in which nobody may change the object. */
  limboMs: number
  /** If C never comes: what waits for ever, and on which links. */
  stuck: { names: readonly string[]; links: readonly string[] }
}

/** What the remedies would cost. */
export function costs(scenario: Scenario, wishes: Wishes): Costs {
  const picture = draw(scenario, wishes, false)
  const opened = openings(picture)
  const waits = picture.arrows
    .map(({ name, message, at }) => ({ name, from: message.from, ms: opened.get(name)! - at }))
    .filter(({ ms }) => ms > 0)
  const late = picture.arrows.filter((arrow) => causesOf(picture, arrow).some(isCreate))
  const migrations = picture.arrows.filter(({ message }) => message.word === 'MIGRATE')
  const others = scenario.members.length - 1
  return {
    waits,
    parked: parkedAt(picture, opened),
    resent: waits.reduce((sum, { ms }) => sum + Math.floor(ms / RESEND_MS), 0),
    acks: picture.arrows.length,
    handshake: migrations.length * (2 * others + 1),
    holdfast: migrations.length * (others + 1),
    limboMs: Math.max(0, ...migrations.map((each) => limbo(each, opened))),
    stuck: {
      names: late.map(({ name }) => name),
      links: [...new Set(late.map(({ message }) => message.from))],
    },
  }
}

function isCreate({ message }: Arrow): boolean {
  return message.word === 'CREATE'
}

/** What was sent to X before this, as far as its sender could know (happened before). */
export function causesOf(picture: Picture, { message }: Arrow): Arrow[] {
  const known = new Set<Arrow>()
  const learn = (who: string, until: number, own: boolean): void => {
    for (const arrow of picture.arrows) {
      const { from, sentAt, id } = arrow.message
      const before = own ? id < message.id : sentAt <= until
      if (from === who && before && sentAt <= until) known.add(arrow)
    }
    for (const { message: heard, at } of picture.others) {
      if (heard.to === who && at <= until) learn(heard.from, heard.sentAt, false)
    }
  }
  learn(message.from, message.sentAt, true)
  return [...known].filter(({ message: each }) => each.id !== message.id)
}

// When each may be looked at, if none is before its causes.
function openings(picture: Picture): Map<string, number> {
  const opened = new Map<string, number>()
  const open = (arrow: Arrow): number => {
    const known = opened.get(arrow.name)
    if (known !== undefined) return known
    const at = Math.max(arrow.at, ...causesOf(picture, arrow).map(open))
    opened.set(arrow.name, at)
    return at
  }
  for (const arrow of picture.arrows) open(arrow)
  return opened
}

function parkedAt({ arrows }: Picture, opened: ReadonlyMap<string, number>): number {
  const waiting = arrows.map((now) => {
    return arrows.filter(({ at, name }) => at <= now.at && opened.get(name)! > now.at).length
  })
  return Math.max(0, ...waiting)
}

// The old owner stops when it hears of it; the new one begins when all have said that they did.
function limbo({ name, message }: Arrow, opened: ReadonlyMap<string, number>): number {
  const stopped = message.sentAt + PROMPT_MS
  const confirmed = opened.get(name)! + PROMPT_MS
  return confirmed + PROMPT_MS - stopped
}
