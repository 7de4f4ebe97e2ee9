/**
 * The keys of the table. Arrows go from thing to thing, or carry what was picked up with Enter;
 * the others do what the menu does.
 */

import type { Vec2 } from 'holdfast'
import { isElsewhere } from '../keys.ts'
import { placeOf, type Thing } from './kinds.ts'
import { pileSize } from './piles.ts'
import type { Play } from './play.ts'
import { spoken } from './pointers.ts'
import { DISCARD, SQUARE } from './rules/places.ts'
import { gameOf, isDuel } from './rules/seats.ts'
import { ACTS } from './rules/things.ts'
import { closeSheet } from './sheets.tsx'
import type { Scene } from './view/scene.tsx'

/** How far an arrow carries, in units of the table. */
const STEP = 20

const WAYS: Readonly<Record<string, Vec2>> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
}

/** What each key does, for the help. */
export const KEYS: readonly (readonly [keys: string, does: string])[] = [
  ['← ↑ ↓ →', 'go from thing to thing; Shift selects more'],
  ['Enter', 'pick up, carry with the arrows, put down; play a card'],
  ['R', 'rotate (Shift: back)'],
  ['F', 'flip; crown'],
  ['[ ]', 'lower, raise'],
  ['E', 'enlarge a card, also the one under the pointer; and no more'],
  ['H', 'take into your hand'],
  ['P', 'put onto the discard pile'],
  ['L T', 'look through the pile; split it'],
  ['Z', 'take your last move back'],
  ['D', 'deal'],
  ['S', 'shuffle the deck'],
  ['G', 'roll the dice'],
  ['B', 'open the box: boards, dice, tokens, jokers'],
  ['+ − PgUp PgDn', 'raise or lower a counter'],
  ['Del', 'put dice and tokens into the box'],
  ['X', 'point at a piece, or where the pointer is'],
  ['+ − 0', 'zoom; fit, and again: another part'],
  ['Esc', 'put back, select nothing'],
  ['?', 'this help'],
]

/** What keys need of their page. */
export interface Desk {
  readonly scene: Scene
  playing(): Play | null
  deal(): void
  help(): void
  /** Closes what is open. @returns whether anything was */
  close(): boolean
  /** Says it to who cannot see. */
  speak(text: string): void
}

/** Listens to the keys of the page. */
export function listen(desk: Desk): void {
  window.addEventListener('keydown', (event) => {
    const play = desk.playing()
    if (!play || isElsewhere(event)) return
    play.keyed = true
    if (strike(desk, play, event)) {
      event.preventDefault()
      desk.scene.dirty = true
    }
  })
}

function strike(desk: Desk, play: Play, event: KeyboardEvent): boolean {
  const { key, shiftKey } = event
  const way = WAYS[key]
  if (way) return arrow(desk, play, way, shiftKey)
  if (key === '?') return did(desk.help())
  if (key === 'Escape') return escape(desk, play)
  if (!play.watching && counted(play, key)) return true
  if (zoomed(desk, play, key)) return true
  if (key.toLowerCase() === 'e') return did(play.enlarge(play.find(play.pointed || play.focus)))
  if (play.watching) return false
  if (key === 'Enter' || key === ' ') return did(enter(desk, play))
  return act(desk, play, key.toLowerCase(), shiftKey)
}

function did(_done: void): true {
  return true
}

function act(desk: Desk, play: Play, key: string, shift: boolean): boolean {
  const { chosen } = play
  switch (key) {
    case 'r':
      return did(play.turn(chosen, shift ? -1 : 1))
    case 'f':
      return did(play.flip(chosen))
    case '[':
      return did(play.lower(chosen))
    case ']':
      return did(play.raise(chosen))
    case 'h':
      return did(play.put(chosen, { hand: play.session.me.player }))
    case 'p':
      return did(play.put(chosen, { at: DISCARD }))
    case 'l':
    case 't':
      return aboutPile(play, key)
    case 'z':
      return did(void play.takeBack())
    case 'd':
      return did(desk.deal())
    case 's':
      return did(void play.act(ACTS.shuffle, { all: false }))
    case 'b':
      return gameOf(play.session.table) === 'free' && did(play.show({ kind: 'box', id: 0 }))
    case 'x':
      return did(point(desk, play))
    case 'delete':
    case 'backspace':
      return did(play.putBack(chosen))
    case 'g':
      return did(void play.roll(null))
    default:
      return false
  }
}

const COUNTS: Readonly<Record<string, number>> = {
  '+': 1,
  '=': 1,
  '-': -1,
  PageUp: 10,
  PageDown: -10,
}

function counted(play: Play, key: string): boolean {
  const by = COUNTS[key]
  return by !== undefined && play.count(play.chosen, by)
}

// By keys at the piece that has the focus, else where the mouse is.
function point({ scene }: Desk, play: Play): void {
  const thing = play.keyed ? play.find(play.focus) : null
  const at = thing && scene.looks.onScreen(thing.id)
  play.point(at ? scene.camera.toTable(at) : play.ghosts.at)
}

function aboutPile(play: Play, key: string): boolean {
  const thing = play.find(play.focus)
  if (thing?.kind !== 'card' || pileSize(play, thing.handle) < 2) return false
  const { id } = thing
  if (key === 't') return did(play.show({ kind: 'split', id }))
  return did(void play.act(ACTS.search, { card: id }))
}

function zoomed({ scene }: Desk, play: Play, key: string): boolean {
  const { width, height } = scene.camera.frame
  if (key === '0') return did(scene.fit(play))
  const factor = key === '+' || key === '=' ? 1.25 : key === '-' ? 0.8 : 0
  if (factor !== 0) scene.camera.zoomBy(factor, [width / 2, height / 2])
  return factor !== 0
}

function escape(desk: Desk, play: Play): boolean {
  if (desk.close()) return true
  if (closeSheet(play)) return true
  if (play.drags.held.size > 0) {
    play.drags.cancel()
    desk.speak('Put back.')
  }
  play.keep()
  play.selected.clear()
  return true
}

function arrow(desk: Desk, play: Play, way: Vec2, more: boolean): boolean {
  if (play.drags.held.size > 0) return carry(play, way)
  const next = nextOf(desk.scene, play, way)
  if (!next) return true
  if (!more) play.selected.clear()
  else if (play.focus !== 0) play.selected.add(play.focus)
  if (more) play.selected.add(next.id)
  play.focus = next.id
  desk.speak(spoken(play, next))
  return true
}

function carry(play: Play, [x, y]: Vec2): boolean {
  const onBoard = isDuel(gameOf(play.session.table))
  const step = onBoard ? SQUARE : STEP
  const sign = play.sitsAtBlack && onBoard ? -1 : 1
  for (const drag of play.drags.held.values()) {
    drag.at = [drag.at[0] + x * step * sign, drag.at[1] + y * step * sign]
  }
  return true
}

/** The nearest thing that way; things right there are nearer than those aside. */
function nextOf(scene: Scene, play: Play, way: Vec2): Thing | null {
  const shown = play.things.flatMap((thing) => {
    const at = scene.looks.onScreen(thing.id)
    return at ? [{ thing, at }] : []
  })
  const here = shown.find(({ thing }) => thing.id === play.focus)
  if (!here) return shown.at(-1)?.thing ?? null
  let best: { thing: Thing; cost: number } | null = null
  // Of things on one pile the topmost counts, which comes last.
  for (const { thing, at } of shown) {
    const [x, y] = [at[0] - here.at[0], at[1] - here.at[1]]
    const ahead = x * way[0] + y * way[1]
    const aside = Math.abs(x * way[1]) + Math.abs(y * way[0])
    if (ahead < 4) continue
    const cost = ahead + 2.2 * aside
    if (!best || cost <= best.cost) best = { thing, cost }
  }
  return best?.thing ?? null
}

function enter(desk: Desk, play: Play): void {
  const { scene } = desk
  if (play.drags.held.size > 0) return putDown(desk, play)
  const thing = play.find(play.focus)
  if (thing?.kind === 'die') return void play.roll(thing.id)
  if (thing?.kind === 'card' && thing.handle.state.law) {
    if (thing.handle.state.deck) void play.act(ACTS.takeCard, null)
    else if (thing.handle.state.hand === play.session.me.player) play.playCard(thing.handle)
    return
  }
  const shownAt = (each: Thing): Vec2 => {
    if (scene.looks.of(each.id)?.space === 'table') return placeOf(each)
    return scene.camera.toTable(scene.looks.onScreen(each.id) ?? [0, 0])
  }
  if (play.drags.pick(play.chosen, [0, 0], shownAt)) desk.speak('Picked up.')
}

function putDown(desk: Desk, play: Play): void {
  const { scene } = desk
  const [first] = play.drags.held.values()
  const isIn = scene.isInTray(play, scene.camera.toScreen(first!.at))
  play.drags.drop({ hand: isIn ? play.session.me.player : 0, open: true })
  desk.speak('Put down.')
}
