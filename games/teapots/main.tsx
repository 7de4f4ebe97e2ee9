/**
 * The page of Dueling Teapots. `?room=` says which session, `?name=` joins at once, `?watch`
 * without a pot, `?condition=` makes the weather of this window's links worse (such as
 * `rtt=120,loss=5%`), `?server=` names another hub, `?players=` how many may join if this window
 * opens the room, `?finish=plain` or `fine` how it is drawn, `?frames=` how often a second at most.
 *
 * For tests, `document.body.dataset` says how things stand: `status` (door, joining, failed,
 * killed, or that of the session), `error`, `safety`, `epoch`, `role`, `me`, `primary`, `backup`
 * and `members` (players), `pots` (players that are drawn), `places`, `flying`
 * (cubes), `tea`, `points`, `hits` (of all),
 * `counted` (our own hits), `returns`, `banner`, `frames`, `degree`; and `window.teapots` plays.
 */

import { HoldfastError, join } from 'holdfast'
import { type ComponentChild, render } from 'preact'
import { pickName } from '../news.ts'
import { type Acts, Card, type Guest, type Links, NoPicture, type Stage as At } from './cards.tsx'
import { SessionCourt } from './court.ts'
import { recallGuest, rememberGuest } from './guest.ts'
import { Banner, Bowl, Header, Scores, Winner } from './hud.tsx'
import { Input } from './input.ts'
import { Panel } from './panel.tsx'
import { Play } from './play.ts'
import { decisions, PLAYERS_MAX, Pot, typesOf } from './rules/things.ts'
import * as rows from './rules/standing.ts'
import { Sound } from './sound.ts'
import { tick } from './ticker.ts'
import { Touch } from './touch.tsx'
import { Labels } from './view/labels.ts'
import { Picture } from './view/picture.ts'
import { Stage } from './view/stage.ts'

/** How often figures are read that no event tells, in milliseconds. */
const LOOK_MS = 200

declare global {
  interface Window {
    /** For tests and the curious; undefined until joined. */
    teapots?: Play
  }
}

const query = new URLSearchParams(location.search)
const room = query.get('room') || 'main'
const links: Links = { share: link({}), second: link({ name: pickName(Math.random()) }) }
const canvas = document.querySelector<HTMLCanvasElement>('#table')!
const sound = new Sound()
let guest: Guest = recallGuest(query.get('name'))
let at: At = { kind: 'door' }
let panel = false
let frames = 0

const acts: Acts = {
  join: (who, watch) => void enter(who, watch),
  door: () => go({ kind: 'door' }),
  again: () => location.assign(link({ name: guest.name })),
  sit: () => at.kind === 'in' && at.play.sit(guest.glaze),
}

/** A link into this room, with the hub and the weather of this window. */
function link(more: { name?: string }): string {
  const url = new URL(location.href)
  url.hash = ''
  for (const word of ['name', 'watch']) url.searchParams.delete(word)
  url.searchParams.set('room', room)
  if (more.name) url.searchParams.set('name', more.name)
  return url.href
}

function playing(): Play | null {
  return at.kind === 'in' && !at.play.killed ? at.play : null
}

function go(next: At): void {
  at = next
  show()
}

async function enter(who: Guest, watch: boolean): Promise<void> {
  const giveUp = new AbortController()
  guest = who
  if (who.name !== query.get('name')) rememberGuest(who)
  go({ kind: 'joining', cancel: () => giveUp.abort() })
  const court = new SessionCourt()
  const decided = decisions(court)
  try {
    const session = await join({
      game: 'teapots',
      room,
      name: who.name,
      types: typesOf(decided),
      playersMax: Number(query.get('players')) || PLAYERS_MAX,
      server: query.get('server') || undefined,
      condition: query.get('condition') || undefined,
      signal: giveUp.signal,
    })
    court.session = session
    session.on('primary', () => sound.bell())
    begin(new Play(session, decided, show), watch)
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
  canvas.focus({ preventScroll: true })
}

function Page(): ComponentChild {
  const play = at.kind === 'in' ? at.play : null
  const here = play && !play.killed && play.session.status !== 'lost' ? play : null
  const switches = {
    muted: sound.muted,
    mute: () => {
      sound.muted = !sound.muted
      show()
    },
    panel,
    togglePanel: () => {
      panel = !panel
      show()
    },
  }
  return (
    <>
      <Header room={room} play={play} switches={switches} />
      {here && <Scores play={here} />}
      <Banner play={play} />
      {here && <Winner play={here} />}
      {here && <Bowl play={here} />}
      {here?.seat && <Touch input={input} />}
      {stage ? (
        <Card stage={at} guest={guest} room={room} links={links} acts={acts} />
      ) : (
        <NoPicture />
      )}
      {here && panel && (
        <Panel play={here} share={links.share} close={() => switches.togglePanel()} />
      )}
    </>
  )
}

function show(): void {
  render(<Page />, document.querySelector('#page')!)
  mark()
}

function mark(): void {
  const data = document.body.dataset
  data['frames'] = String(frames)
  data['degree'] = String(stage?.degree ?? -1)
  if (at.kind !== 'in') {
    data['status'] = at.kind
    const { error } = at.kind === 'failed' ? at : {}
    data['error'] = error instanceof HoldfastError ? error.code : ''
    return
  }
  const { play } = at
  const { session, seat } = play
  const figures = session.figures()
  const pots = session
    .all(Pot)
    .map((pot) => [pot.owner?.player ?? 0, pot.state] as const)
    .sort(([a], [b]) => a - b)
  Object.assign(data, {
    status: play.killed ? 'killed' : session.status,
    safety: session.safety,
    epoch: figures.epoch,
    role: figures.role,
    me: session.me.player,
    primary: session.primary?.player ?? '',
    backup: session.backup?.player ?? '',
    members: session.members.map(({ player }) => player).join(','),
    pots: pots.map(([player]) => player).join(','),
    places: pots.map(([, { pos }]) => pos.map(Math.round).join('/')).join(' '),
    flying: play.flights.at(session.now()).length,
    tea: seat?.standing?.tea ?? '',
    points: play.standings
      .map(({ player, points }) => `${player}:${points}`)
      .sort()
      .join(','),
    hits: rows.hitsTotal(session),
    counted: seat?.counted ?? 0,
    returns: figures.returns,
    banner: document.querySelector('.banner')?.textContent ?? '',
  })
}

/** The stage, or null where there is no WebGL. */
function openStage(): Stage | null {
  const finish = query.get('finish')
  try {
    return new Stage(canvas, finish === 'plain' || finish === 'fine' ? finish : null)
  } catch {
    return null
  }
}

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
  if (now - drawnAt < Math.max(apart, stage?.apart ?? 0)) return
  const play = playing()
  frames++
  if (play) {
    play.assist = input.assist
    sound.ear = play.seat?.body.pos ?? [0, 0]
  }
  picture?.draw(play, now - drawnAt, play?.lateAt(now) ?? 0)
  drawnAt = now
}

show()
tick(() => playing()?.advance(performance.now()))
if (picture) requestAnimationFrame(frame)
setInterval(() => {
  playing()?.story.look()
  show()
}, LOOK_MS)
for (const touched of ['pointerdown', 'keydown']) {
  window.addEventListener(touched, () => sound.wake(), { passive: true })
}
// A page that the browser kept aside has said goodbye; its session does not come back.
window.addEventListener('pageshow', (event) => event.persisted && location.reload())
if (query.get('name') && stage) acts.join(guest, query.has('watch'))
