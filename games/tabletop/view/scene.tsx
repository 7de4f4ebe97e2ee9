/**
 * The picture of the table: the ground, what lies on it, our hand of cards, what our hand holds,
 * and where the hands of the others are.
 */

import { type ComponentChild, render } from 'preact'
import type { Vec2 } from 'holdfast'
import { colourOf } from '../colours.ts'
import type { Thing } from '../kinds.ts'
import { pilesOf } from '../piles.ts'
import type { Play } from '../play.ts'
import { lastOf } from '../rules/duel.ts'
import { boardOf } from '../rules/men.ts'
import { CARD, COUNTER, DIE, MAN, TOKEN, type Region, REGIONS } from '../rules/places.ts'
import { type Game, gameOf, isDuel } from '../rules/seats.ts'
import { layoutFor } from '../tray.ts'
import { middleOf } from '../turns.ts'
import { Camera } from './camera.ts'
import { Faces } from './faces.tsx'
import { FANS_HEIGHT } from './fans.ts'
import { Ground, Names, Paints, Trail } from './ground.tsx'
import { type Look, Looks, type Space } from './looks.ts'
import { ThingPicture } from './things.tsx'

/** Cards of a pile that are drawn one by one; those below are its edge. */
const PILE_TOP = 3
/** Height of our hand when it is empty, in pixels. */
const TRAY_LOW = 34

/** A rubber band, in pixels of the picture. */
export interface Band {
  readonly from: Vec2
  readonly to: Vec2
}

/** See the head of this file. */
export class Scene {
  readonly camera = new Camera()
  readonly looks: Looks
  band: Band | null = null
  /** Something is to be drawn anew. */
  dirty = true
  readonly #root: Element
  #game = ''
  #ghosts = ''

  constructor(root: Element) {
    this.#root = root
    this.looks = new Looks(this.camera)
    new ResizeObserver(() => this.#resize()).observe(root)
    this.#resize()
  }

  #resize(): void {
    const { clientWidth: width, clientHeight: height } = this.#root
    this.camera.frame = { ...this.camera.frame, width, height }
    this.dirty = true
  }

  /** Height of our hand of cards, in pixels; 0 where there is none. An empty one is low. */
  trayHeight(play: Play | null, isEmpty: boolean = play?.tray.cards.length === 0): number {
    const game = play && gameOf(play.session.table)
    const has = play && !play.watching && (game === 'free' || game === 'eights')
    if (!has) return 0
    return isEmpty ? TRAY_LOW : layoutFor(this.camera.frame.width).height
  }

  /** Whether our hand takes what is put down there: it opens for what is carried to it. */
  isInTray(play: Play, [, y]: Vec2): boolean {
    const isEmpty = play.tray.cards.length === 0 && play.drags.held.size === 0
    return y > this.camera.frame.height - this.trayHeight(play, isEmpty)
  }

  /** Draws, if there is anything new. @param ms  since the last time @param top  of the table */
  draw(play: Play | null, ms: number, top: number): void {
    this.#settle(play, top)
    const isMoving = play ? this.looks.advance(play, ms) : false
    const ghosts = play?.ghosts.shown(performance.now()) ?? []
    const places = ghosts
      .map(({ player, at }) => `${player} ${at.map(Math.round).join(' ')}`)
      .join()
    const pings =
      play?.ghosts
        .pings(performance.now())
        .map(({ since }) => since)
        .join() ?? ''
    if (!this.dirty && !isMoving && `${places} ${pings}` === this.#ghosts) return
    this.dirty = isMoving
    this.#ghosts = `${places} ${pings}`
    render(<Picture scene={this} play={play} />, this.#root)
  }

  // A table that nobody moved is shown as large as it fits.
  #settle(play: Play | null, top: number): void {
    const { camera } = this
    const game = (play && gameOf(play.session.table)) ?? 'free'
    const bottom = this.trayHeight(play)
    const fans = play?.hasFans ? FANS_HEIGHT : 0
    const isOther = game !== this.#game || bottom !== camera.frame.bottom
    camera.turned = isDuel(game) && play !== null && play.sitsAtBlack
    if (!isOther && top + fans === camera.frame.top && !this.dirty) return
    camera.frame = { ...camera.frame, bottom, top: top + fans }
    if (game !== this.#game) camera.isFitted = true
    this.#game = game
    if (camera.isFitted) camera.fit(this.#regionsOf(game)[0])
  }

  get #isUpright(): boolean {
    const { width, height } = this.camera.frame
    return height > 1.2 * width
  }

  // What is shown at first, and what next when one asks for it again.
  #regionsOf(game: Game): [Region, ...Region[]] {
    const { free, upright, cards, draughts, eights } = REGIONS
    if (isDuel(game)) return [draughts, free]
    if (game === 'eights') return [eights, free]
    return [this.#isUpright ? upright : free, cards, draughts]
  }

  /** Shows what matters most; if that is shown, the next part, and in the end all again. */
  fit(play: Play | null): void {
    const { camera } = this
    const regions = this.#regionsOf((play && gameOf(play.session.table)) ?? 'free')
    const { zoom, at } = camera
    const shown = regions.findIndex((region) => {
      camera.fit(region)
      return camera.zoom === zoom && camera.at[0] === at[0] && camera.at[1] === at[1]
    })
    const next = (shown + 1) % regions.length
    camera.fit(regions[next]!)
    camera.isFitted = next === 0
    this.dirty = true
  }

  /** The topmost thing at a place of the picture. */
  hit(play: Play, [x, y]: Vec2): Thing | null {
    const isTray = this.isInTray(play, [x, y])
    const cards = isTray ? play.tray.cards.map(({ id }) => play.find(id)!) : play.things
    return cards.findLast((thing) => this.#isUnder(thing, [x, y], isTray)) ?? null
  }

  #isUnder(thing: Thing, [x, y]: Vec2, isTray: boolean): boolean {
    const look = this.looks.of(thing.id)
    const at = this.looks.onScreen(thing.id)
    if (!look || !at || (look.space === 'tray') !== isTray) return false
    const scale = isTray ? look.scale : this.camera.zoom
    const [dx, dy] = [(x - at[0]) / scale, (y - at[1]) / scale]
    if (thing.kind === 'man') return Math.hypot(dx, dy) <= MAN + 2
    const [cos, sin] = [Math.cos(-look.turn), Math.sin(-look.turn)]
    const [across, along] = [dx * cos - dy * sin, dx * sin + dy * cos]
    const size = sizeOf(thing)
    return Math.abs(across) <= size[0]! / 2 && Math.abs(along) <= size[1]! / 2
  }
}

function sizeOf(thing: Thing): Vec2 {
  if (thing.kind === 'die') return [DIE, DIE]
  if (thing.kind !== 'token') return CARD
  return thing.handle.state.counter ? COUNTER : [2 * TOKEN, 2 * TOKEN]
}

// Where somebody points.
function Marked({ scene, play }: { scene: Scene; play: Play }): ComponentChild {
  return play.ghosts.pings(performance.now()).map(({ player, at, since }) => {
    const [x, y] = scene.camera.toScreen(at)
    return (
      <g key={`${player} ${since}`} transform={`translate(${x.toFixed(1)} ${y.toFixed(1)})`}>
        <circle class="ping" r="34" stroke={colourOf(player)} />
        <circle class="ping late" r="34" stroke={colourOf(player)} />
        <circle r="6" fill={colourOf(player)} stroke="#08131d" stroke-width="1.5" />
        <text class="ghost" text-anchor="middle" y="-14" fill={colourOf(player)}>
          {play.called(player)}
        </text>
      </g>
    )
  })
}

// One and the same at every frame, so it is not compared either.
const DEFINED = (
  <>
    <Paints />
    <Faces />
  </>
)

function Picture({ scene, play }: { scene: Scene; play: Play | null }): ComponentChild {
  const { camera, band } = scene
  const { width, height } = camera.frame
  return (
    <svg viewBox={`0 0 ${width} ${height}`} width={width} height={height}>
      {DEFINED}
      <g transform={camera.transform}>
        <Below scene={scene} play={play} />
        {play && <Piles play={play} />}
        {play && <Layer scene={scene} play={play} space="table" />}
      </g>
      {play && <Shelf scene={scene} play={play} />}
      <g transform={camera.transform}>{play && <Layer scene={scene} play={play} space="air" />}</g>
      {play && <Marked scene={scene} play={play} />}
      {play && <Hands scene={scene} play={play} />}
      {band && <Rubber {...band} />}
    </svg>
  )
}

function Below({ scene, play }: { scene: Scene; play: Play | null }): ComponentChild {
  const game = play && gameOf(play.session.table)
  const board = play && boardOf(play.session.table)
  return (
    <>
      <Ground game={game} board={board} />
      {board === 'chess' && <Names turned={scene.camera.turned} />}
      {play && isDuel(game) && <Moved play={play} />}
    </>
  )
}

function Moved({ play }: { play: Play }): ComponentChild {
  const { session } = play
  const thing = play.find(play.drags.held.keys().next().value ?? play.focus)
  const square = thing?.kind === 'man' ? thing.handle.state.square : 0
  const taken = new Set(
    play.things.flatMap(({ kind, handle }) => (kind === 'man' ? [handle.state.square] : [])),
  )
  const ways = play
    .waysOf(square)
    .map((to) => ({ at: middleOf(session, to), takes: taken.has(to) }))
  return <Trail last={lastOf(session.table).map((each) => middleOf(session, each))} ways={ways} />
}

// Our hand of cards, and those of the others.
function Shelf({ scene, play }: { scene: Scene; play: Play }): ComponentChild {
  const { width, height } = scene.camera.frame
  const isOpen = play.tray.cards.length > 0 || play.drags.held.size > 0
  const tall = scene.trayHeight(play, !isOpen)
  return (
    <>
      {tall > 0 && (
        <rect class="shelf" x="-2" y={height - tall} width={width + 4} height={tall + 2} />
      )}
      <Layer scene={scene} play={play} space="tray" />
      {scene.looks.fans.map(({ player, at, cards }) => (
        <text
          key={player}
          class="ghost"
          text-anchor="middle"
          x={at[0]}
          y={at[1] + 15}
          fill={colourOf(player)}
        >
          {play.called(player)} · {cards.size}
        </text>
      ))}
    </>
  )
}

function Rubber({ from, to }: Band): ComponentChild {
  return (
    <rect
      class="band"
      x={Math.min(from[0], to[0])}
      y={Math.min(from[1], to[1])}
      width={Math.abs(from[0] - to[0])}
      height={Math.abs(from[1] - to[1])}
      rx="4"
    />
  )
}

// The edges of the piles, the deeper, the more cards; and how many there are.
function Piles({ play }: { play: Play }): ComponentChild {
  return (
    <>
      {pilesOf(play).map(({ at, cards }) => (
        <g key={at.join()} transform={`translate(${at[0]} ${at[1]})`}>
          {cards.length > 2 && (
            <text class="pile" text-anchor="middle" y={CARD[1] / 2 + 48}>
              {cards.length} CARDS
            </text>
          )}
          {Array.from({ length: Math.ceil(cards.length / 8) }, (_, layer) => (
            <rect
              key={layer}
              x={-CARD[0] / 2 + 0.7 * layer}
              y={-CARD[1] / 2 + 1.5 * layer + 1.5}
              width={CARD[0]}
              height={CARD[1]}
              rx="8"
              fill="#e9e4d8"
              stroke="#7d7766"
              stroke-width="0.7"
            />
          )).toReversed()}
        </g>
      ))}
    </>
  )
}

function Layer(props: { scene: Scene; play: Play; space: Space }): ComponentChild {
  const { scene, play, space } = props
  const buried = new Set(
    pilesOf(play).flatMap(({ cards }) => cards.slice(0, -PILE_TOP).map(({ id }) => id)),
  )
  const things = space === 'tray' ? inHands(play) : play.things
  return (
    <g class={`on-${space}`}>
      {things.map((thing) => {
        const look = scene.looks.of(thing.id)
        if (look?.space !== space || (buried.has(thing.id) && look.flip < 0.02)) return null
        return <Placed key={thing.id} thing={thing} look={look} scene={scene} play={play} />
      })}
    </g>
  )
}

// Cards in hands, ours in the order in which they lie.
function inHands(play: Play): Thing[] {
  const ours = play.tray.cards.map(({ id }) => play.find(id)!)
  return [...play.things.filter((thing) => !ours.includes(thing)), ...ours]
}

function Placed(props: { thing: Thing; look: Look; scene: Scene; play: Play }): ComponentChild {
  const { thing, look, scene, play } = props
  const { heldBy, holder } = thing.handle
  const me = play.session.me.player
  const isOthers = heldBy !== 0 && heldBy !== me
  const scale = look.space === 'tray' ? look.scale : look.space === 'air' ? 1.06 : 1
  const degrees = (look.turn * 180) / Math.PI
  const at = `translate(${look.at[0].toFixed(2)} ${look.at[1].toFixed(2)})`
  const marks = {
    selected: play.selected.has(thing.id) || isChosen(play, thing),
    focused: play.focus === thing.id && play.keyed,
    ready: thing.kind === 'man' && play.waysOf(thing.handle.state.square).length > 0,
    holder: isOthers ? colourOf(heldBy) : '',
    name: isOthers ? (holder?.name ?? play.called(heldBy)) : '',
    inAir: look.space === 'air',
    flip: look.flip,
    turned: scene.camera.turned,
  }
  return (
    <g
      class={look.space === 'table' && heldBy === me ? 'mine' : undefined}
      transform={`${at} rotate(${degrees.toFixed(1)}) scale(${scale.toFixed(3)})`}
    >
      <ThingPicture thing={thing} marks={marks} />
    </g>
  )
}

// A man of a game that goes where one clicks next.
function isChosen(play: Play, thing: Thing): boolean {
  const isFocus = play.focus === thing.id && !play.keyed
  return isFocus && thing.kind === 'man' && play.waysOf(thing.handle.state.square).length > 0
}

const HAND =
  'M-3 1V-15a3 3 0 0 1 6 0v9a3 3 0 0 1 5.5 1.2a3 3 0 0 1 5 1.5a2.8 2.8 0 0 1 4.5 2.3' +
  'v8c0 7 -4 11 -10 11s-9 -3 -12 -8l-5.5 -8a3 3 0 0 1 4.5 -4z'

function Hands({ scene, play }: { scene: Scene; play: Play }): ComponentChild {
  return (
    <g class="ghosts">
      {play.ghosts.shown(performance.now()).map(({ player, name, at }) => {
        const [x, y] = scene.camera.toScreen(at)
        return (
          <g key={player} transform={`translate(${x.toFixed(1)} ${y.toFixed(1)})`}>
            <g transform="translate(0 17)">
              <path d={HAND} fill={colourOf(player)} stroke="#08131d" stroke-width="1.5" />
            </g>
            <text class="ghost" x="22" y="32" fill={colourOf(player)}>
              {name}
            </text>
          </g>
        )
      })}
    </g>
  )
}
