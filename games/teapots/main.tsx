/**
 * The page of Dueling Teapots. `?room=` says which session, `?name=` joins at once, `?watch`
 * without a pot, `?condition=` makes the weather of this window's links worse (such as
 * `rtt=120,loss=5%`), `?server=` names another hub, `?players=` how many may join if this window
 * opens the room, `?finish=plain` or `fine` how it is drawn, `?frames=` how often a second at
 * most, 0 for a window that nobody looks at.
 *
 * For tests, `document.body.dataset` says how things stand: `status` (door, joining, failed, or
 * that of marks.ts, with the rest of what it says), `error`, `banner`, `frames`, `degree` and
 * `cost` of the picture; and `window.teapots` plays.
 */

import { HoldfastError, join, type JoinOptions } from 'holdfast'
import { type ComponentChild, render } from 'preact'
import { hubOf, linksInto } from '../links.ts'
import { Banner } from '../signs.tsx'
import { type Kept, personalLink, Tab } from '../tab.ts'
import { isDirect } from '../door.tsx'
import { ticketIn } from '../ticket.ts'
import { type Acts, Card, type Guest, NoPicture, type Stage as At } from './cards.tsx'
import { SessionCourt } from './court.ts'
import { recallGuest, rememberGuest } from './guest.ts'
import { Bowl, Feed, Header, Scores, Touched, Winner } from './hud.tsx'
import { Input } from './input.ts'
import { marksOf } from './marks.ts'
import { Panel } from './panel.tsx'
import { Play } from './play.ts'
import { decisions, PLAYERS_MAX, typesOf } from './rules/things.ts'
import { Sound } from './sound.ts'
import { tick } from '../ticker.ts'
import { Touch } from './touch.tsx'
import { Labels } from './view/labels.ts'
import { Picture } from './view/picture.ts'
import { Stage } from './view/stage.ts'

/** How often figures are read that no event tells, in milliseconds. */
const LOOK_MS = 200
/** Frames that are drawn before one joins. */
const FIRST_FRAMES = 2
/** Bots that come at first. */
const BOTS = 3

declare global {
  interface Window {
    /** For tests and the curious; undefined until joined. */
    teapots?: Play
  }
}

const query = new URLSearchParams(location.search)
const room = query.get('room') || 'main'
const server = hubOf(location.href)
const seats = Number(query.get('players')) || PLAYERS_MAX
const links = linksInto(room)
const canvas = document.querySelector<HTMLCanvasElement>('#table')!
const sound = new Sound()
const tab = new Tab('teapots', room)
const wasHere = tab.player
let guest = recallGuest(wasHere?.who['name'] ?? query.get('name'), wasHere?.who['glaze'])
let at: At = { kind: 'door' }
let panel = false
let frames = 0

const acts: Acts = {
  join: (who, watch) => void enter(who, watch),
  door: () => go({ kind: 'door' }),
  glaze: (glaze) => (guest = { ...guest, glaze }),
  again: () => {
    if (at.kind === 'in' && at.play.session.code === 'elsewhere') tab.keep(playerOf(at.play))
    tab.again(guest.name)
  },
  anew: () => tab.anew(guest.name),
  sit: () => at.kind === 'in' && at.play.sit(guest.glaze),
}

/** Who plays here, for a window that goes on as the same. */
function playerOf({ session, seat }: Play): Kept {
  const { name, glaze } = guest
  const watch = seat ? '' : 'yes'
  return { token: session.token, who: { name, glaze: String(glaze), watch } }
}

function playing(): Play | null {
  return at.kind === 'in' && !at.play.killed ? at.play : null
}

function go(next: At): void {
  at = next
  show()
}

function wish({ name }: Guest): JoinOptions {
  return {
    game: 'teapots',
    room,
    name,
    playersMax: seats,
    listed: !query.has('unlisted'),
    server,
    condition: query.get('condition') || undefined,
    webrtc: isDirect(),
  }
}

async function enter(who: Guest, watch: boolean): Promise<void> {
  const giveUp = new AbortController()
  guest = who
  if (who.name !== query.get('name')) rememberGuest(who)
  go({ kind: 'joining', cancel: () => giveUp.abort() })
  const court = new SessionCourt()
  const decided = decisions(court)
  try {
    const ticket = ticketIn(location.hash)
    const { session, way } = await tab.join((token) =>
      join({ ...wish(who), token, ticket, types: typesOf(decided), signal: giveUp.signal }),
    )
    court.session = session
    session.on('primary', () => sound.bell())
    const play = new Play(session, decided, show)
    play.invite({ load: () => import('./bots.ts'), room, server, seats, some: BOTS })
    play.welcome(way)
    begin(play, watch || session.me.watches)
    tab.keep(playerOf(play))
  } catch (error) {
    go(giveUp.signal.aborted ? { kind: 'door' } : { kind: 'failed', error, watch })
  }
}

function begin(play: Play, watch: boolean): void {
  window.teapots = play
  play.steer = () => input.read(performance.now())
  picture?.clear()
  if (!watch) play.sit(guest.glaze)
  go({ kind: 'in', play })
  // The frame is for who comes here by Tab.
  canvas.focus({ preventScroll: true, focusVisible: false } as FocusOptions)
}

function mute(): void {
  sound.muted = !sound.muted
  show()
}

function togglePanel(): void {
  panel = !panel
  show()
}

function Page(): ComponentChild {
  const play = at.kind === 'in' ? at.play : null
  const here = play?.isHere ? play : null
  const switches = { muted: sound.muted, mute, panel, togglePanel }
  return (
    <>
      <Header
        room={room}
        play={play}
        switches={switches}
        leave={here && (() => void tab.leave(here))}
      />
      <section class="play-area" aria-label="The game">
        {here && <Scores play={here} />}
        {here && <Feed play={here} />}
        <Banner player={play} />
        {here && <Winner play={here} />}
        {here && <Bowl play={here} />}
        {here && <Touched play={here} />}
        {here?.seat && <Touch input={input} />}
        {stage || !isDrawn ? (
          <Card stage={at} guest={guest} room={room} links={links} acts={acts} />
        ) : (
          <NoPicture />
        )}
      </section>
      {here && panel && (
        <Panel
          play={here}
          share={links.share}
          personal={personalLink(links.share, playerOf(here))}
          close={togglePanel}
        />
      )}
    </>
  )
}

function show(): void {
  render(<Page />, document.querySelector('#page')!)
  mark()
}

function mark(): void {
  const { error } = at.kind === 'failed' ? at : {}
  Object.assign(
    document.body.dataset,
    {
      status: at.kind,
      error: error instanceof HoldfastError ? error.code : '',
      banner: document.querySelector('.banner')?.textContent ?? '',
      frames,
      degree: stage?.degree ?? '',
      cost: stage?.cost ?? '',
    },
    at.kind === 'in' && marksOf(at.play),
  )
}

/** The stage, or null where there is no WebGL. */
function openStage(): Stage | null {
  if (!isDrawn) return null
  const finish = query.get('finish')
  try {
    return new Stage(canvas, finish === 'plain' || finish === 'fine' ? finish : null)
  } catch {
    return null
  }
}

// A window that nobody looks at plays all the same.
const isDrawn = query.get('frames') !== '0'
const stage = openStage()
const labels = new Labels(document.querySelector<HTMLElement>('#labels')!)
const picture = stage && new Picture(stage, labels, sound)
const input = new Input(
  canvas,
  () => (playing()?.seat ?? null) !== null,
  (x, y) => {
    const place = stage?.placeAt(x, y)
    const pos = playing()?.seat?.body.pos
    return place && pos ? Math.atan2(place[1] - pos[1], place[0] - pos[0]) : null
  },
)

// Less than a whole frame is taken off, or a frame would be lost to rounding.
const apart = query.has('frames') ? 1000 / Number(query.get('frames')) - 8 : 0
let drawnAt = performance.now()
function frame(): void {
  requestAnimationFrame(frame)
  const now = performance.now()
  const soon = frames < FIRST_FRAMES ? 0 : Math.max(apart, stage?.apart ?? 0)
  if (now - drawnAt < soon) return
  const play = playing()
  frames++
  if (play) {
    play.assist = input.assist
    sound.ear = play.seat?.body.pos ?? [0, 0]
  }
  picture?.draw(play ?? guest.glaze, now - drawnAt, play?.lateAt(now) ?? 0)
  drawnAt = now
}

show()
tick(() => playing()?.advance(performance.now()))
if (picture) requestAnimationFrame(frame)
setInterval(() => {
  const play = playing()
  play?.story.look()
  if (play?.isHere) tab.keep(playerOf(play))
  show()
}, LOOK_MS)
for (const touched of ['pointerdown', 'keydown']) {
  window.addEventListener(touched, () => sound.wake(), { passive: true })
}
// A tab that was loaded anew goes on as it was. The first frames are the slowest by far, and who
// joins must not be silent: so first the table is drawn.
function arrive(): void {
  if (stage && frames < FIRST_FRAMES && !document.hidden) return void setTimeout(arrive, 30)
  if (wasHere) acts.join(guest, wasHere.who['watch'] === 'yes')
  else if (query.get('name')) acts.join(guest, query.has('watch'))
}
if (stage || !isDrawn) arrive()
