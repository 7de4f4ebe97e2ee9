/**
 * The page of Mazewar. `?room=` says which session, `?name=` joins at once, with `?watch` only to
 * look on; `?practice=5` begins against so many bots with no network. `?condition=` makes the
 * weather of this window's links worse, `?server=` names another hub, and `?born=2,3` wants to be
 * born in that cell with that facing. `?map=all` of whoever opens a room makes all maps of it show
 * everybody; without it they show whom one sees or hears.
 *
 * For tests, `document.body.dataset` says how things stand: `status` (door, joining, failed,
 * practice, killed, or that of the session), `error`, `me`, `members`, `bots` (of this page),
 * `epoch`, `rats` (each as id@cell/facing), `scores` (each as id:points), `sees` (ids before our
 * eye), `maps` (ids of rats on the map), `slots` (joining, live), `lines`; and `window.mazewar`
 * is the controller.
 */

import { HoldfastError, join } from 'holdfast'
import { type ComponentChild, render } from 'preact'
import { firstName, isDirect } from '../door.tsx'
import { hubOf, linksInto } from '../links.ts'
import { remember } from '../recall.ts'
import { Banner } from '../signs.tsx'
import { type Kept, personalLink, Tab } from '../tab.ts'
import { ticketIn } from '../ticket.ts'
import { type Acts, type At, Card, Help } from './cards.tsx'
import { Controller } from './controller.ts'
import { listen } from './input.ts'
import { GAME, PLAYERS_MAX, TYPES } from './game.ts'
import { Header, Hud, Side } from './panel.tsx'
import { Play } from './play.ts'
import { Practice } from './practice.ts'
import { readPlace } from './rules/maze.ts'
import { Screen } from './screen.ts'
import { Sound } from './sound.ts'
import { Touch } from './touch.tsx'

/** How often the words are written anew, in milliseconds. */
const LOOK_MS = 100
/** How often the tab says who it is, in such looks. */
const KEEP_LOOKS = 5
/** Bots of a practice, if nothing else is said. */
const PRACTICE_BOTS = 5
/** Bots that come into a room at first. */
const BOTS = 3

declare global {
  interface Window {
    /** For tests and the curious; undefined until one is in. */
    mazewar?: Controller
  }
}

const query = new URLSearchParams(location.search)
const room = query.get('room') || 'main'
const server = hubOf(location.href)
const links = linksInto(room)
const tab = new Tab(GAME, room)
const wasHere = tab.player
const sound = new Sound()
const screen = new Screen()
const demo = rehearse()
let at: At = { kind: 'door', name: firstName(wasHere?.who['name'] || query.get('name')) }
let help = false
// A player who has asked the system for reduced motion sees steps at once, without gliding.
const little = matchMedia('(prefers-reduced-motion: reduce)')
const showsAll = query.get('map') === 'all'

const acts: Acts = {
  join: (name, watch) => void enter(name, watch),
  door: (name) => go({ kind: 'door', name }),
  practise: (name) => practise(name),
  enter: () => at.kind === 'in' && at.play.enter(),
  help: (open) => {
    help = open
    show()
  },
  again: () => {
    if (at.kind === 'in' && at.play.session.code === 'elsewhere') tab.keep(playerOf(at.play))
    tab.again(nameHere())
  },
  anew: () => tab.anew(nameHere()),
}

/** Who plays here, for a window that goes on as the same. */
function playerOf({ session, seat }: Play): Kept {
  return { token: session.token, who: { name: session.me.name, watch: seat.plays ? '' : 'yes' } }
}

function nameHere(): string {
  if (at.kind === 'in') return at.play.session.me.name
  return at.kind === 'practice' ? at.practice.nameOf(at.practice.me) : at.name
}

function sitting(): Controller | null {
  if (at.kind === 'practice') return at.controller
  return at.kind === 'in' && at.play.isHere ? at.play.controller : null
}

function go(next: At): void {
  at = next
  const controller = sitting()
  window.mazewar = controller ?? undefined
  screen.controller = controller ?? demo.controller
  if (controller) {
    controller.stage.calm = little.matches
    controller.stage.showsAll = showsAll && next.kind === 'practice'
  }
  if (controller) controller.onCue = (cue) => sound.play(cue)
  show()
}

async function enter(name: string, watch: boolean): Promise<void> {
  const giveUp = new AbortController()
  go({ kind: 'joining', name, cancel: () => giveUp.abort() })
  if (name !== query.get('name')) remember('name', name)
  try {
    const { session, way } = await tab.join((token) =>
      join({
        game: GAME,
        room,
        name,
        token,
        ticket: ticketIn(location.hash),
        types: TYPES,
        topology: 'mesh',
        playersMax: PLAYERS_MAX,
        listed: !query.has('unlisted'),
        server,
        condition: query.get('condition') || undefined,
        webrtc: isDirect(),
        signal: giveUp.signal,
      }),
    )
    const play = new Play(session, watch || session.me.watches, show)
    play.seat.birthplace = readPlace(query.get('born') ?? '')
    play.invite({ load: () => import('./bots.ts'), room, server, seats: PLAYERS_MAX, some: BOTS })
    play.welcome(way)
    if (showsAll && session.members.length === 1) play.seat.showAll()
    go({ kind: 'in', play })
    tab.keep(playerOf(play))
  } catch (error) {
    go(giveUp.signal.aborted ? { kind: 'door', name } : { kind: 'failed', name, error, watch })
  }
}

function practise(name: string): void {
  const bots = Math.max(0, Math.min(60, Number(query.get('practice')) || PRACTICE_BOTS))
  const seed = Number(query.get('seed')) || Math.floor(Math.random() * 2 ** 31)
  remember('name', name)
  const practice = new Practice({ name, bots, seed, now: performance.now() })
  go({ kind: 'practice', practice, controller: new Controller(practice) })
}

// Behind the door one sees what a bot sees.
function rehearse(): { practice: Practice; controller: Controller } {
  const practice = new Practice({ name: '', bots: 24, seed: 7, now: performance.now() })
  const controller = new Controller(practice)
  controller.watch()
  return { practice, controller }
}

function mute(): void {
  sound.muted = !sound.muted
  show()
}

function Page(): ComponentChild {
  const play = at.kind === 'in' ? at.play : null
  // What a dead window last knew is no news of the others.
  const here = play?.isHere ? play : null
  const controller = sitting()
  return (
    <>
      <Header
        room={at.kind === 'practice' ? 'practice' : room}
        play={play}
        leave={here && (() => void tab.leave(here))}
        muted={sound.muted}
        mute={mute}
        help={() => acts.help(!help)}
      />
      <main class={controller ? 'board' : 'board shut'}>
        <Eye />
        {controller && (
          <Hud
            controller={controller}
            enter={here && !here.seat.plays ? () => acts.enter() : null}
          />
        )}
        <Banner player={play} />
        {help ? <Help acts={acts} /> : <Card at={at} room={room} links={links} acts={acts} />}
      </main>
      {controller && (
        <Side
          controller={controller}
          play={here}
          map={screen.map}
          share={links.share}
          personal={here && personalLink(links.share, playerOf(here))}
        />
      )}
      {controller?.rat && <Touch controller={controller} />}
    </>
  )
}

function Eye(): ComponentChild {
  const words = 'What your rat sees: arrows run and turn, space shoots, H for help'
  return <canvas ref={screen.eye} class="eye" tabIndex={0} role="application" aria-label={words} />
}

function show(): void {
  render(<Page />, document.querySelector('#page')!)
  mark()
}

function mark(): void {
  const { error } = at.kind === 'failed' ? at : {}
  const controller = sitting()
  const world = controller?.maze.state
  Object.assign(document.body.dataset, {
    status: at.kind,
    error: error instanceof HoldfastError ? error.code : '',
    rats: world?.rats.map(({ id, at: cell, facing }) => `${id}@${cell}/${facing}`).join(' ') ?? '',
    scores: world?.rats.map(({ id, score }) => `${id}:${score}`).join(' ') ?? '',
    sees: screen.seen.join(' '),
    maps: screen.mapped.join(' '),
    lines: controller?.lines.map(({ text }) => text).join(' | ') ?? '',
  })
  if (at.kind !== 'in') return
  const { session, killed, seat } = at.play
  Object.assign(document.body.dataset, {
    status: killed ? 'killed' : session.status,
    slots: seat.live ? 'live' : 'joining',
    safety: session.safety,
    bots: at.play.company?.count ?? 0,
    me: session.me.player,
    members: session.members.map(({ player }) => player).join(','),
    epoch: session.debug.figures().epoch,
  })
}

let looks = 0
function look(): void {
  const play = at.kind === 'in' ? at.play : null
  play?.story.look()
  if (play?.isHere) {
    play.seat.look()
    if (looks++ % KEEP_LOOKS === 0) tab.keep(playerOf(play))
  }
  advance()
  show()
}

// A hidden tab has no frames, but its maze goes on.
function advance(): void {
  const now = performance.now()
  if (at.kind === 'practice') at.practice.advance(now)
  else if (at.kind !== 'in') demo.practice.advance(now)
  sitting()?.tick(now)
}

screen.beforeFrame = advance
listen({
  controller: () => (help ? null : sitting()),
  help: () => acts.help(!help),
  mute,
  close: () => acts.help(false),
})
for (const touched of ['pointerdown', 'keydown']) {
  window.addEventListener(touched, () => sound.wake(), { passive: true })
}
go(at)
setInterval(look, LOOK_MS)
if (query.has('practice')) practise(nameHere())
else if (wasHere) acts.join(nameHere(), wasHere.who['watch'] === 'yes')
else if (query.get('name')) acts.join(nameHere(), query.has('watch'))
