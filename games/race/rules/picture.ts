/**
 * The picture of one play: what Holdfast's own objects make of it (`enact`), and how far a message
 * to X can be dragged. The order on one link cannot be broken; all other orders can.
 */

import { type Arrival, type Change, enact, type Standing, type Telling } from 'holdfast/sim'
import { nameOf, type Scenario, type Wishes } from './scenarios.ts'

/** No message is faster. */
export const FASTEST_MS = 15
/** Two messages of one link arrive at least so far apart, so that one can tell them apart. */
export const GAP_MS = 20
/** What is not for X takes so long. */
export const PROMPT_MS = 40

/** A message to X. */
export interface Arrow extends Arrival {
  name: string
  /** Why it arrives later than it was asked to; empty if it does not. */
  held: string
}

/** All there is to see. */
export interface Picture {
  scenario: Scenario
  /** As Holdfast does it; else in the source's first form. */
  fixed: boolean
  /** To X, in the order of arrival. */
  arrows: readonly Arrow[]
  /** All others. */
  others: readonly Arrival[]
  changes: readonly Change[]
  ends: Readonly<Record<string, Standing>>
  agree: boolean
}

/** Plays a scenario, with arrivals at X as wished for as far as can be. */
export function draw(scenario: Scenario, wishes: Wishes, fixed: boolean): Picture {
  const held = new Map<number, string>()
  const last = new Map<string, { name: string; at: number }>()
  const arrival = (message: Telling): number => {
    if (message.to !== 'X') return message.sentAt + PROMPT_MS
    const name = nameOf(scenario, message)
    const before = last.get(message.from)
    const wish = wishes[name] ?? message.sentAt + PROMPT_MS
    const soonest = message.sentAt + FASTEST_MS
    const next = before ? before.at + GAP_MS : 0
    if (wish < next) held.set(message.id, inOrder(message, name, before!.name))
    else if (wish < soonest) held.set(message.id, notSent(message, name))
    const at = Math.max(wish, soonest, next)
    last.set(message.from, { name, at })
    return at
  }
  const { members, deeds } = scenario
  const { arrivals, changes, ends, agree } = enact({ members, deeds, firstForm: !fixed, arrival })
  const arrows = arrivals
    .filter(({ message }) => message.to === 'X')
    .map((each) => {
      const { message } = each
      return { ...each, name: nameOf(scenario, message), held: held.get(message.id) ?? '' }
    })
  const others = arrivals.filter(({ message }) => message.to !== 'X')
  return { scenario, fixed, arrows, others, changes, ends, agree }
}

function inOrder({ from }: Telling, name: string, before: string): string {
  return `${from} to X is one ordered stream: ${before} left before ${name} and arrives before it.`
}

function notSent({ from, sentAt }: Telling, name: string): string {
  return `${name} leaves ${from} at ${sentAt} ms and cannot arrive before that.`
}

/** Where a message comes to rest, and why not where it was dragged; `why` is empty if it is. */
export interface Drag {
  at: number
  why: string
}

/** Drags the arrival of a message. */
export function drag({ scenario, arrows }: Picture, name: string, to: number): Drag {
  const own = arrows.find((arrow) => arrow.name === name)
  if (!own) return { at: to, why: '' }
  const link = arrows.filter(({ message }) => message.from === own.message.from)
  const place = link.indexOf(own)
  const [before, after] = [link[place - 1], link[place + 1]]
  const soonest = own.message.sentAt + FASTEST_MS
  if (before && to < before.at + GAP_MS) {
    return { at: before.at + GAP_MS, why: inOrder(own.message, name, before.name) }
  }
  if (to < soonest) return { at: soonest, why: notSent(own.message, name) }
  if (after && to > after.at - GAP_MS) {
    return { at: after.at - GAP_MS, why: inOrder(own.message, after.name, name) }
  }
  return to > scenario.endMs
    ? { at: scenario.endMs, why: 'Here the picture ends.' }
    : { at: to, why: '' }
}

/** Moves a message past its neighbour: to arrive earlier for -1, later for 1. */
export function pass(picture: Picture, name: string, by: -1 | 1): Drag {
  const { arrows, scenario } = picture
  const place = arrows.findIndex((arrow) => arrow.name === name)
  const own = arrows[place]
  const neighbour = arrows[place + by]
  if (!own) return { at: 0, why: '' }
  if (!neighbour) return { at: own.at, why: `${name} is the ${by < 0 ? 'first' : 'last'} already.` }
  const beyond = arrows[place + 2 * by]?.at ?? neighbour.at + by * 4 * GAP_MS
  const to = Math.min(scenario.endMs, Math.max(0, (neighbour.at + beyond) / 2))
  const found = drag(picture, name, to)
  const passed = by < 0 ? found.at < neighbour.at : found.at > neighbour.at
  return passed ? { at: found.at, why: '' } : found
}
