/**
 * The page of Dots. `?room=` says which session, `?name=` joins at once, with `?watch` only to look
 * on, `?condition=` makes the weather of this window's links worse (such as `rtt=120,loss=5%`),
 * `?server=` names another hub.
 *
 * For tests, `document.body.dataset` says how things stand: `status` (door, joining, failed,
 * killed, or that of the session), `error`, `safety`, `epoch`, `role`, `me`, `primary`, `backup`
 * and `members` (players), `bots` (of this page), `pins` (our acknowledged ones), `pinsTotal`,
 * `returns`, `banner`;
 * and `window.dots` moves, drops and kills.
 */

import { HoldfastError, join } from 'holdfast'
import { type ComponentChild, render } from 'preact'
import { Board } from './board.ts'
import { type Acts, Card, type Stage } from './cards.tsx'
import { listen } from './input.ts'
import { firstName, isDirect } from '../door.tsx'
import { hubOf, linksInto } from '../links.ts'
import { remember } from '../recall.ts'
import { Banner } from '../signs.tsx'
import { type Kept, personalLink, Tab } from '../tab.ts'
import { ticketIn } from '../ticket.ts'
import { Header, Side } from './panel.tsx'
import { Play } from './play.ts'
import { pinsTotal, PLAYERS_MAX, TYPES } from './rules.ts'

/** How often figures are read that no event tells, in milliseconds. */
const LOOK_MS = 250
/** Bots that come at first. */
const BOTS = 3

declare global {
  interface Window {
    /** For tests and the curious; undefined until joined. */
    dots?: Play
  }
}

const query = new URLSearchParams(location.search)
const room = query.get('room') || 'main'
const server = hubOf(location.href)
const links = linksInto(room)
const tab = new Tab('dots', room)
const wasHere = tab.player
let stage: Stage = { kind: 'door', name: firstName(wasHere?.who['name'] || query.get('name')) }

const acts: Acts = {
  join: (name, watch) => void enter(name, watch),
  comeIn: () => {
    const play = playing()
    play?.comeIn()
    if (play) tab.keep(playerOf(play))
  },
  door: (name) => go({ kind: 'door', name }),
  again: () => {
    if (stage.kind === 'in' && stage.play.session.code === 'elsewhere')
      tab.keep(playerOf(stage.play))
    tab.again(nameHere())
  },
  anew: () => tab.anew(nameHere()),
}

/** Who plays here, for a window that goes on as the same. */
function playerOf({ session, watching }: Play): Kept {
  return { token: session.token, who: { name: session.me.name, watch: watching ? 'yes' : '' } }
}

function nameHere(): string {
  return stage.kind === 'in' ? stage.play.session.me.name : stage.name
}

function playing(): Play | null {
  return stage.kind === 'in' && !stage.play.killed ? stage.play : null
}

function go(next: Stage): void {
  stage = next
  show()
}

async function enter(name: string, watch: boolean): Promise<void> {
  const giveUp = new AbortController()
  go({ kind: 'joining', name, cancel: () => giveUp.abort() })
  if (name !== query.get('name')) remember('name', name)
  try {
    const { session, way } = await tab.join((token) =>
      join({
        game: 'dots',
        room,
        name,
        token,
        ticket: ticketIn(location.hash),
        types: TYPES,
        playersMax: PLAYERS_MAX,
        listed: !query.has('unlisted'),
        server,
        condition: query.get('condition') || undefined,
        webrtc: isDirect(),
        signal: giveUp.signal,
      }),
    )
    const play = new Play(session, watch || session.me.watches, show)
    play.invite({ load: () => import('./bots.ts'), room, server, seats: PLAYERS_MAX, some: BOTS })
    play.welcome(way)
    window.dots = play
    go({ kind: 'in', play })
    tab.keep(playerOf(play))
    board.show(play)
  } catch (error) {
    go(giveUp.signal.aborted ? { kind: 'door', name } : { kind: 'failed', name, error, watch })
  }
}

function Page(): ComponentChild {
  const play = stage.kind === 'in' ? stage.play : null
  // What a dead window last knew is no news of the others.
  const here = play?.isHere ? play : null
  return (
    <>
      <Header room={room} play={play} leave={here && (() => void tab.leave(here))} />
      <main class="board">
        <canvas
          tabIndex={0}
          role="application"
          aria-label="The field: move with the arrow keys, drop with space"
        />
        <Banner player={play} />
        <Card stage={stage} room={room} links={links} acts={acts} />
      </main>
      {here && (
        <Side
          play={here}
          share={links.share}
          personal={personalLink(links.share, playerOf(here))}
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
  const data = document.body.dataset
  if (stage.kind !== 'in') {
    data['status'] = stage.kind
    const { error } = stage.kind === 'failed' ? stage : {}
    data['error'] = error instanceof HoldfastError ? error.code : ''
    return
  }
  const { play } = stage
  const { session } = play
  const figures = session.debug.figures()
  Object.assign(data, {
    status: play.killed ? 'killed' : session.status,
    safety: session.safety,
    epoch: figures.epoch,
    role: figures.role,
    me: session.me.player,
    primary: session.primary?.player ?? '',
    backup: session.backup?.player ?? '',
    members: session.members.map(({ player }) => player).join(','),
    bots: play.company?.count ?? 0,
    pins: play.acknowledged,
    pinsTotal: pinsTotal(session.table),
    returns: figures.returns,
    banner: document.querySelector('.banner')?.textContent ?? '',
  })
}

show()
const canvas = document.querySelector('canvas')!
const board = new Board(canvas)
listen(canvas, board, playing)
setInterval(() => {
  const play = playing()
  play?.story.look()
  if (play?.isHere) tab.keep(playerOf(play))
  show()
}, LOOK_MS)
if (wasHere) acts.join(nameHere(), wasHere.who['watch'] === 'yes')
else if (query.get('name')) acts.join(nameHere(), query.has('watch'))
