/**
 * The page of the card table. `?room=` says which session, `?name=` joins at once, `?watch` without
 * a hand, `?condition=` makes the weather of this window's links worse (such as `rtt=200`),
 * `?server=` names another hub.
 *
 * For tests, `document.body.dataset` says how things stand: `status` (door, joining, failed, or
 * that of marks.ts, with the rest of what it says), `error` and `banner`; and `window.tabletop`
 * plays, `window.tabletopScene` says where things are seen.
 */

import { HoldfastError, join } from 'holdfast'
import { type ComponentChild, render } from 'preact'
import { firstName, isDirect } from '../door.tsx'
import { hubOf, linksInto } from '../links.ts'
import { remember } from '../recall.ts'
import { keyOfRoom, withKey } from '../room-key.ts'
import { Banner } from '../signs.tsx'
import { KEPT, type Kept, personalLink, Tab } from '../tab.ts'
import { ticketIn } from '../ticket.ts'
import { Claims } from './away.tsx'
import { Bar } from './bar.tsx'
import { type Acts, Card, type Stage } from './cards.tsx'
import { marksOf } from './marks.ts'
import { Menu, type MenuAt } from './menu.tsx'
import { HandWords, Header, Help, Said, Side, Tools } from './panel.tsx'
import { Play } from './play.ts'
import { Pointers } from './pointers.ts'
import { endOf, gameOf } from './rules/seats.ts'
import { DEAL_MAX } from './rules/free.ts'
import { keptName } from './rules/kept.ts'
import { ACTS, PLAYERS_MAX, TYPES } from './rules/things.ts'
import { Sheets } from './sheets.tsx'
import { listen } from './typing.ts'
import { Scene } from './view/scene.tsx'

/** How often figures are read that no event tells, in milliseconds. */
const LOOK_MS = 250
/** Windows that are wider have the panel open at first, in pixels. */
const WIDE = 1_000
/** Bots that come at first. */
const BOTS = 1

declare global {
  interface Window {
    /** For tests and the curious; undefined until joined. */
    tabletop?: Play
    /** See tabletop. */
    tabletopScene?: Scene
  }
}

const query = new URLSearchParams(location.search)
const room = query.get('room') || 'main'
const server = hubOf(location.href)
// Before the tab reads its fragment, and cleans it.
const fragment = location.hash
const tab = new Tab('tabletop', room)
const wasHere = tab.player
const key = keyOfRoom('tabletop', room, fragment, wasHere?.token ?? '')
const into = linksInto(room)
const links = { share: withKey(into.share, key), second: withKey(into.second, key) }
let name = firstName(wasHere?.who['name'] || query.get('name'))
let stage: Stage = { kind: 'door' }
let panel = window.innerWidth >= WIDE
let help = false
let choosing = false
let selects = false
let count = 5
let menu: MenuAt | null = null
let spoken = ''
/** How many endings of games have been read. */
let readEnd = ''

const acts: Acts = {
  join: (wanted, watch) => void enter(wanted, watch),
  door: () => go({ kind: 'door' }),
  again: () => {
    if (stage.kind === 'in' && stage.play.session.code === 'elsewhere') {
      tab.keep(playerOf(stage.play))
    }
    tab.again(name)
  },
  anew: () => tab.anew(name),
  sit: () => {
    const play = playing()
    play?.comeIn()
    if (play) tab.keep(playerOf(play))
  },
  choose: (open) => {
    choosing = open
    show()
  },
  read: () => {
    if (stage.kind === 'in') readEnd = endMark(stage.play)
    show()
  },
}

/** Who plays here, for a window that goes on as the same. */
function playerOf({ session, watching }: Play): Kept {
  const isKept = keptName(session.table, session.me.player) !== null
  const who = { name, watch: watching ? 'yes' : '', [KEPT]: isKept ? 'yes' : '' }
  return { token: session.token, who }
}

function endMark({ session }: Play): string {
  return `${String(session.table.get('records'))} ${endOf(session.table)?.text ?? ''}`
}

function playing(): Play | null {
  return stage.kind === 'in' && stage.play.isHere ? stage.play : null
}

function go(next: Stage): void {
  stage = next
  show()
}

async function enter(wanted: string, watch: boolean): Promise<void> {
  const giveUp = new AbortController()
  name = wanted
  if (name !== query.get('name')) remember('name', name)
  go({ kind: 'joining', cancel: () => giveUp.abort() })
  try {
    const { session, way } = await tab.join((token) =>
      join({
        game: 'tabletop',
        room,
        name,
        token,
        ticket: ticketIn(location.hash),
        types: TYPES,
        keepRoom: { key },
        playersMax: PLAYERS_MAX,
        listed: !query.has('unlisted'),
        primaries: query.has('hosts') ? 'hosts' : 'all',
        server,
        condition: query.get('condition') || undefined,
        webrtc: isDirect(),
        signal: giveUp.signal,
      }),
    )
    const play = new Play(session, watch || session.me.watches, show)
    play.invite({ load: () => import('./bots.ts'), room, server, seats: PLAYERS_MAX, some: BOTS })
    play.welcome(way)
    begin(play)
  } catch (error) {
    go(giveUp.signal.aborted ? { kind: 'door' } : { kind: 'failed', error, watch })
  }
}

function begin(play: Play): void {
  window.tabletop = play
  tab.keep(playerOf(play))
  go({ kind: 'in', play })
}

function deal(): void {
  const play = playing()
  if (!play) return
  if (gameOf(play.session.table) === 'eights') return void play.act(ACTS.dealRound, null)
  void play.act(ACTS.deal, { count, players: play.ghosts.players })
}

function close(): boolean {
  const isOpen = menu !== null || help || choosing
  menu = null
  help = false
  choosing = false
  if (isOpen) show()
  return isOpen
}

function toggleHelp(): void {
  help = !help
  show()
}

function togglePanel(): void {
  panel = !panel
  show()
}

function Page(): ComponentChild {
  const play = stage.kind === 'in' ? stage.play : null
  const here = play?.isHere ? play : null
  const isRead = here !== null && readEnd === endMark(here)
  return (
    <>
      <Header
        room={room}
        play={play}
        leave={here && (() => void tab.leave(here))}
        panel={panel}
        toggle={togglePanel}
      />
      <main class="board">
        <div
          class="table"
          tabIndex={0}
          role="application"
          aria-label="The table: arrows go from piece to piece, question mark for help"
        />
        {here && <Over play={here} />}
        <Banner player={play} />
        {here && <Said play={here} />}
        <Card {...{ stage, name, room, links, acts, choosing }} isRead={isRead} />
        {help && <Help close={toggleHelp} />}
        <p class="unseen" aria-live="polite">
          {spoken}
        </p>
      </main>
      {here && panel && <Beside play={here} />}
    </>
  )
}

function Beside({ play }: { play: Play }): ComponentChild {
  return (
    <Side
      play={play}
      share={links.share}
      personal={personalLink(links.share, playerOf(play))}
      choose={() => acts.choose(true)}
      close={togglePanel}
    />
  )
}

// What lies over the table while one is at it.
function Over({ play }: { play: Play }): ComponentChild {
  const bottom = scene?.trayHeight(play) ?? 0
  return (
    <>
      <Bar play={play} count={count} deal={deal} setCount={setCount} />
      {bottom > 0 && <HandWords play={play} bottom={bottom} />}
      <Claims play={play} bottom={bottom} />
      {!choosing && gameOf(play.session.table) && (
        <Tools
          play={play}
          bottom={bottom}
          selects={selects}
          acts={{ fit: () => scene?.fit(play), zoom, select: toggleSelect, help: toggleHelp }}
        />
      )}
      <Sheets play={play} />
      {menu && <Menu play={play} menu={menu} close={() => close()} />}
    </>
  )
}

function setCount(wanted: number): void {
  count = Math.min(DEAL_MAX, Math.max(1, wanted))
  show()
}

function zoom(factor: number): void {
  if (!scene) return
  const { width, height } = scene.camera.frame
  scene.camera.zoomBy(factor, [width / 2, height / 2])
  scene.dirty = true
}

function toggleSelect(): void {
  selects = !selects
  show()
}

function show(): void {
  if (scene) scene.dirty = true
  render(<Page />, document.querySelector('#page')!)
  mark()
}

function mark(): void {
  const { error } = stage.kind === 'failed' ? stage : {}
  Object.assign(
    document.body.dataset,
    {
      status: stage.kind,
      error: error instanceof HoldfastError ? error.code : '',
      banner: document.querySelector('.banner')?.textContent ?? '',
    },
    stage.kind === 'in' && marksOf(stage.play),
  )
}

let scene: Scene | null = null
show()
const table = document.querySelector<HTMLElement>('.table')!
scene = new Scene(table)
window.tabletopScene = scene
new Pointers(table, {
  scene,
  playing,
  selects: () => selects,
  menu: (at, thing) => {
    const isNews = menu !== null || at !== null
    menu = at && thing ? { at, thing } : null
    if (isNews) show()
  },
})
listen({
  scene,
  playing,
  deal,
  help: toggleHelp,
  close,
  speak: (text) => {
    spoken = text
    show()
  },
})

let drawnAt = performance.now()
function frame(now: number): void {
  requestAnimationFrame(frame)
  const play = playing()
  play?.drags.tell(now)
  play?.ghosts.tell(now)
  const bar = document.querySelector('.bar')
  scene?.draw(play, Math.min(250, now - drawnAt), bar ? bar.clientHeight + 10 : 0)
  drawnAt = now
}
requestAnimationFrame(frame)
setInterval(() => {
  const play = playing()
  play?.look()
  if (play) tab.keep(playerOf(play))
  show()
}, LOOK_MS)
if (query.get('name') || wasHere) {
  acts.join(name, wasHere ? wasHere.who['watch'] === 'yes' : query.has('watch'))
}
