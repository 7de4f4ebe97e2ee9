/**
 * Mouse, pen and fingers. A thing is dragged, the ground is panned, two fingers or the wheel zoom;
 * with Shift, or where one chooses to select, a rubber band. A long press or the right button asks
 * for the menu, and points where nothing lies. In our own hand a card is sorted until it leaves it.
 */

import type { Vec2 } from 'holdfast'
import { called, type Thing } from './kinds.ts'
import type { Play } from './play.ts'
import { COUNTER } from './rules/places.ts'
import { gameOf, isDuel } from './rules/seats.ts'
import { ACTS } from './rules/things.ts'
import { squareBelow } from './turns.ts'
import type { Scene } from './view/scene.tsx'

/** A pointer that goes farther is no click, in pixels. */
const STILL: Readonly<Record<string, number>> = { mouse: 4, pen: 6, touch: 9 }
/** A finger that rests so long asks for the menu, in milliseconds. */
const LONG_MS = 450
/** Two clicks within so many milliseconds are a double one. */
const DOUBLE_MS = 350
/** How much a step of the wheel zooms. */
const WHEEL = 0.0016

/** What pointers need of their page. */
export interface Ground {
  readonly scene: Scene
  playing(): Play | null
  /** Whether a drag of the ground selects. */
  selects(): boolean
  /** Opens the menu of a thing there, or closes it. */
  menu(at: Vec2 | null, thing: Thing | null): void
}

type Gesture =
  | { kind: 'press'; thing: Thing | null; from: Vec2; type: string; timer: number }
  | { kind: 'sort'; thing: Thing }
  | { kind: 'drag' }
  | { kind: 'pan'; last: Vec2 }
  | { kind: 'band'; from: Vec2; before: readonly number[] }
  | { kind: 'pinch'; middle: Vec2; apart: number }
  | { kind: 'over' }

/** See the head of this file. */
export class Pointers {
  readonly #root: HTMLElement
  readonly #ground: Ground
  readonly #down = new Map<number, Vec2>()
  #gesture: Gesture | null = null
  #clicked = { id: 0, at: 0 }

  constructor(root: HTMLElement, ground: Ground) {
    this.#root = root
    this.#ground = ground
    root.addEventListener('pointerdown', (event) => this.#press(event))
    root.addEventListener('pointermove', (event) => this.#move(event))
    root.addEventListener('pointerup', (event) => this.#lift(event))
    root.addEventListener('pointercancel', (event) => this.#stop(event))
    root.addEventListener('pointerleave', () => this.#leave())
    root.addEventListener('contextmenu', (event) => this.#context(event))
    root.addEventListener('wheel', (event) => this.#wheel(event), { passive: false })
  }

  #placeOf(event: MouseEvent): Vec2 {
    const box = this.#root.getBoundingClientRect()
    return [event.clientX - box.left, event.clientY - box.top]
  }

  #leave(): void {
    const play = this.#ground.playing()
    if (!play) return
    play.ghosts.point(null)
    play.pointed = 0
  }

  #press(event: PointerEvent): void {
    if (event.button !== 0) return
    const at = this.#placeOf(event)
    this.#root.setPointerCapture(event.pointerId)
    this.#root.focus({ preventScroll: true })
    this.#down.set(event.pointerId, at)
    this.#ground.menu(null, null)
    const play = this.#ground.playing()
    if (this.#down.size === 2) return this.#pinch(play)
    if (this.#gesture) return
    if (play) play.keyed = false
    const thing = play && this.#ground.scene.hit(play, at)
    const timer =
      event.pointerType === 'mouse' ? 0 : window.setTimeout(() => this.#rest(at, thing), LONG_MS)
    this.#gesture = { kind: 'press', thing, from: at, type: event.pointerType, timer }
  }

  #pinch(play: Play | null): void {
    this.#forget()
    play?.drags.cancel()
    this.#ground.scene.band = null
    const [a, b] = [...this.#down.values()] as [Vec2, Vec2]
    this.#gesture = { kind: 'pinch', ...spanOf(a, b) }
  }

  #rest(at: Vec2, thing: Thing | null): void {
    this.#gesture = { kind: 'over' }
    const play = this.#ground.playing()
    if (!play) return
    if (!thing) return play.point(this.#ground.scene.camera.toTable(at))
    // A player who watches gets no menu, but may have the card enlarged.
    if (play.watching) return play.enlarge(thing)
    if (!play.selected.has(thing.id)) this.#select(play, [thing.id])
    play.focus = thing.id
    this.#ground.menu(at, thing)
  }

  #forget(): void {
    if (this.#gesture?.kind === 'press') clearTimeout(this.#gesture.timer)
    this.#gesture = null
  }

  #move(event: PointerEvent): void {
    const at = this.#placeOf(event)
    if (this.#down.has(event.pointerId)) this.#down.set(event.pointerId, at)
    const { scene } = this.#ground
    const play = this.#ground.playing()
    play?.ghosts.point(play && scene.isInTray(play, at) ? null : scene.camera.toTable(at))
    const gesture = this.#gesture
    if (!gesture) return this.#hover(at, play)
    if (gesture.kind === 'press') this.#begin(gesture, event, at, play)
    else if (gesture.kind === 'drag') play?.drags.move(scene.camera.toTable(at))
    else if (gesture.kind === 'sort') this.#sort(gesture.thing, at, play)
    else if (gesture.kind === 'pan') {
      scene.camera.pan(at[0] - gesture.last[0], at[1] - gesture.last[1])
      gesture.last = at
    } else if (gesture.kind === 'band') this.#stretch(gesture.from, at, gesture.before, play)
    else if (gesture.kind === 'pinch') this.#spread(gesture)
    scene.dirty = true
  }

  #hover(at: Vec2, play: Play | null): void {
    const thing = play && this.#ground.scene.hit(play, at)
    if (play) play.pointed = thing?.id ?? 0
    this.#root.style.cursor = thing && !play.watching ? 'grab' : ''
  }

  // The pointer has gone far enough: now it is known what it does.
  #begin(
    press: Gesture & { kind: 'press' },
    event: PointerEvent,
    at: Vec2,
    play: Play | null,
  ): void {
    const { thing, from, type } = press
    if (Math.hypot(at[0] - from[0], at[1] - from[1]) < (STILL[type] ?? 4)) return
    this.#forget()
    const selects = event.shiftKey || this.#ground.selects()
    if (!thing || !play || play.watching) {
      if (!play || !selects || play.watching) this.#gesture = { kind: 'pan', last: at }
      else {
        const before = event.shiftKey ? [...play.selected] : []
        this.#gesture = { kind: 'band', from, before }
      }
      return
    }
    if (this.#ground.scene.isInTray(play, from)) this.#gesture = { kind: 'sort', thing }
    else this.#take(thing, from, at, play)
  }

  #take(thing: Thing, from: Vec2, at: Vec2, play: Play): void {
    const { scene } = this.#ground
    const isMany = play.selected.has(thing.id) && play.selected.size > 1
    if (!isMany) this.#select(play, [])
    play.focus = thing.id
    if (this.#drawsOnly(play, thing)) return
    const things = isMany ? play.chosen : [thing]
    const shownAt = (each: Thing): Vec2 => {
      return scene.camera.toTable(scene.looks.onScreen(each.id) ?? from)
    }
    const isHeld = play.drags.pick(things, scene.camera.toTable(from), shownAt)
    play.drags.move(scene.camera.toTable(at))
    this.#gesture = isHeld ? { kind: 'drag' } : { kind: 'over' }
    this.#root.style.cursor = isHeld ? 'grabbing' : ''
  }

  // In Crazy Eights the deck gives a card to whoever pulls at it.
  #drawsOnly(play: Play, thing: Thing): boolean {
    if (thing.kind !== 'card' || !thing.handle.state.law || !thing.handle.state.deck) return false
    void play.act(ACTS.takeCard, null)
    this.#gesture = { kind: 'over' }
    return true
  }

  #sort(thing: Thing, at: Vec2, play: Play | null): void {
    if (!play) return
    const { scene } = this.#ground
    if (scene.isInTray(play, at)) play.tray.put(thing.id, at[0], scene.camera.frame)
    else this.#take(thing, scene.looks.onScreen(thing.id) ?? at, at, play)
  }

  #stretch(from: Vec2, to: Vec2, before: readonly number[], play: Play | null): void {
    const { scene } = this.#ground
    scene.band = { from, to }
    if (!play) return
    const isIn = ([x, y]: Vec2): boolean =>
      Math.min(from[0], to[0]) <= x &&
      x <= Math.max(from[0], to[0]) &&
      Math.min(from[1], to[1]) <= y &&
      y <= Math.max(from[1], to[1])
    const found = play.things.filter(({ id }) => {
      const at = scene.looks.onScreen(id)
      return at !== null && isIn(at)
    })
    this.#select(play, [...before, ...found.map(({ id }) => id)])
  }

  #spread(pinch: Gesture & { kind: 'pinch' }): void {
    const [a, b] = [...this.#down.values()]
    if (!a || !b) return
    const { camera } = this.#ground.scene
    const span = spanOf(a, b)
    camera.pan(span.middle[0] - pinch.middle[0], span.middle[1] - pinch.middle[1])
    camera.zoomBy(span.apart / Math.max(1, pinch.apart), span.middle)
    Object.assign(pinch, span)
  }

  #lift(event: PointerEvent): void {
    const at = this.#placeOf(event)
    const gesture = this.#gesture
    this.#down.delete(event.pointerId)
    if (gesture?.kind === 'pinch') {
      if (this.#down.size === 0) this.#gesture = null
      return
    }
    this.#forget()
    const { scene } = this.#ground
    scene.band = null
    scene.dirty = true
    this.#root.style.cursor = ''
    const play = this.#ground.playing()
    if (!play) return
    if (gesture?.kind === 'drag') this.#put(play, at, !event.altKey)
    if (gesture?.kind === 'press') this.#click(play, gesture.thing, at, event)
  }

  #put(play: Play, at: Vec2, open: boolean): void {
    const isIn = this.#ground.scene.isInTray(play, at)
    const ids = [...play.drags.held.keys()]
    play.drags.drop({ hand: isIn ? play.session.me.player : 0, open })
    if (isIn) for (const id of ids) play.tray.put(id, at[0], this.#ground.scene.camera.frame)
  }

  #stop(event: PointerEvent): void {
    this.#down.delete(event.pointerId)
    this.#forget()
    this.#ground.scene.band = null
    this.#ground.playing()?.drags.cancel()
  }

  #click(play: Play, thing: Thing | null, at: Vec2, event: PointerEvent): void {
    const isDouble =
      thing !== null &&
      this.#clicked.id === thing.id &&
      event.timeStamp - this.#clicked.at < DOUBLE_MS
    this.#clicked = { id: thing?.id ?? 0, at: event.timeStamp }
    if (play.watching) return
    if (thing && (event.shiftKey || event.ctrlKey || event.metaKey)) {
      const ids = [...play.selected]
      const isIn = play.selected.has(thing.id)
      return this.#select(play, isIn ? ids.filter((id) => id !== thing.id) : [...ids, thing.id])
    }
    if (this.#goes(play, at)) return
    play.focus = thing?.id ?? 0
    if (!thing) return this.#select(play, [])
    if (this.#isPlayed(play, thing, at)) return
    this.#select(play, [thing.id])
    if (isDouble) play.flip([thing])
  }

  // A man that was chosen goes to the square that is clicked.
  #goes(play: Play, at: Vec2): boolean {
    const thing = play.find(play.focus)
    if (thing?.kind !== 'man' || !thing.handle.state.law) return false
    const to = squareBelow(play.session, this.#ground.scene.camera.toTable(at))
    if (!play.waysOf(thing.handle.state.square).includes(to)) return false
    play.hop(thing.id, to)
    return true
  }

  // The ends of a counter are its buttons.
  #counts(play: Play, thing: Thing, at: Vec2): boolean {
    const middle = this.#ground.scene.looks.onScreen(thing.id) ?? at
    const across = (at[0] - middle[0]) / this.#ground.scene.camera.zoom
    if (Math.abs(across) < COUNTER[0] / 6) return false
    this.#select(play, [thing.id])
    return play.count([thing], Math.sign(across))
  }

  #isPlayed(play: Play, thing: Thing, at: Vec2): boolean {
    if (thing.kind === 'die') {
      void play.roll(thing.id)
      return true
    }
    if (thing.kind === 'token') return this.#counts(play, thing, at)
    if (thing.kind === 'man') return isDuel(gameOf(play.session.table))
    const { law, deck, hand } = thing.handle.state
    if (!law) return false
    if (deck) void play.act(ACTS.takeCard, null)
    else if (hand === play.session.me.player) play.playCard(thing.handle)
    return true
  }

  #select(play: Play, ids: readonly number[]): void {
    play.selected.clear()
    for (const id of ids) play.selected.add(id)
    this.#ground.scene.dirty = true
  }

  #context(event: MouseEvent): void {
    event.preventDefault()
    const at = this.#placeOf(event)
    const play = this.#ground.playing()
    const thing = play && this.#ground.scene.hit(play, at)
    if (!play || play.watching || play.drags.held.size > 0) return
    if (!thing) return play.point(this.#ground.scene.camera.toTable(at))
    if (!play.selected.has(thing.id)) this.#select(play, [thing.id])
    play.focus = thing.id
    this.#ground.menu(at, thing)
  }

  #wheel(event: WheelEvent): void {
    event.preventDefault()
    const lines = event.deltaMode === 1 ? 16 : 1
    const { scene } = this.#ground
    scene.camera.zoomBy(Math.exp(-event.deltaY * lines * WHEEL), this.#placeOf(event))
    scene.dirty = true
  }
}

function spanOf(a: Vec2, b: Vec2): { middle: Vec2; apart: number } {
  return {
    middle: [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2],
    apart: Math.hypot(a[0] - b[0], a[1] - b[1]),
  }
}

/** What a screen reader says of a thing. */
export function spoken(play: Play, thing: Thing): string {
  const who = thing.handle.heldBy
  const held = who === 0 ? '' : `, held by ${play.called(who)}`
  if (thing.kind !== 'card') return `${called(thing)}${held}`
  const { hand, deck, up } = thing.handle.state
  if (hand === play.session.me.player) return `${called(thing)}, in your hand`
  const lies = deck ? 'on the deck' : up ? 'face up' : 'face down'
  return `${called(thing)}, ${lies}${held}`
}
