/**
 * From keys to acts. A slot takes one step of a rat, and makes it before its turns; so what is
 * pressed in another order waits for the next slot, and a key that is held goes on by itself.
 * Little waits: a rat that still turns a second later is nobody's idea of a game.
 */

import type { Act } from './acts.ts'
import { back, leftOf, rightOf } from './maze.ts'
import type { Rat } from './world.ts'

/** What a player wants. */
export type Wish = 'ahead' | 'back' | 'left' | 'right' | 'round' | 'fire' | 'cloak'

/** What goes on as long as its key is held. */
export type Held = 'ahead' | 'back' | 'left' | 'right' | null

/** Wishes that wait, and what was done in the slot under way. Plain data. */
export interface Hands {
  wishes: readonly Wish[]
  slot: number
  stepped: boolean
  turned: boolean
  fired: boolean
  /** The last slot with a turn: one who holds the key turns in every second. */
  turnedIn: number
}

/** Most wishes that wait. */
const WISHES_MAX = 3
/** Slots from turn to turn of a key that is held. */
const TURN_SLOTS = 2

/** Nothing was pressed. */
export function create(): Hands {
  return { wishes: [], slot: -1, stepped: false, turned: false, fired: false, turnedIn: -1 }
}

/** A key goes down. */
export function press(hands: Hands, wish: Wish): void {
  if (hands.wishes.length < WISHES_MAX) hands.wishes = [...hands.wishes, wish]
}

/** What may be done next in this slot; null for nothing. Call it until there is nothing. */
export function next(hands: Hands, slot: number, rat: Rat, held: Held): Act | null {
  if (slot !== hands.slot) {
    Object.assign(hands, { slot, stepped: false, turned: false, fired: false })
  }
  const wish = hands.wishes[0] ?? goesOn(hands, held)
  if (wish === null || !fits(hands, wish)) return null
  hands.wishes = hands.wishes.slice(1)
  mark(hands, wish)
  return actOf(wish, rat)
}

function goesOn(hands: Hands, held: Held): Held {
  if (held === 'ahead' || held === 'back') return held
  return hands.slot - hands.turnedIn >= TURN_SLOTS ? held : null
}

function fits(hands: Hands, wish: Wish): boolean {
  switch (wish) {
    case 'ahead':
    case 'back':
      return !hands.stepped && !hands.turned && !hands.fired
    case 'left':
    case 'right':
    case 'round':
    case 'cloak':
      return true
    case 'fire':
      return !hands.fired
    default:
      return wish satisfies never
  }
}

function mark(hands: Hands, wish: Wish): void {
  if (wish === 'ahead' || wish === 'back') hands.stepped = true
  else if (wish === 'fire') hands.fired = true
  else if (wish !== 'cloak') {
    hands.turned = true
    hands.turnedIn = hands.slot
  }
}

function actOf(wish: Wish, { facing, cloaked }: Rat): Act {
  switch (wish) {
    case 'ahead':
      return { kind: 'step', speed: 1 }
    case 'back':
      return { kind: 'step', speed: 2 }
    case 'left':
      return { kind: 'turn', facing: leftOf(facing) }
    case 'right':
      return { kind: 'turn', facing: rightOf(facing) }
    case 'round':
      return { kind: 'turn', facing: back(facing) }
    case 'fire':
      return { kind: 'fire' }
    case 'cloak':
      return { kind: 'cloak', on: !cloaked }
    default:
      return wish satisfies never
  }
}
