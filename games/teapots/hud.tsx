/** What stands around the table: header, scores, one's own bowl. */

import type { ComponentChild } from 'preact'
import { Head } from '../head.tsx'
import { Figures, Role } from '../signs.tsx'
import { colourOf } from './whose.ts'
import type { Play } from './play.ts'
import { CUBES_MAX } from './rules/flight.ts'
import * as rows from './rules/standing.ts'
import type { LumpHandle } from './views.ts'

/** What the header can do. */
export interface Switches {
  muted: boolean
  mute(): void
  panel: boolean
  togglePanel(): void
}

/** How things stand, in one row. */
export function Header(props: {
  room: string
  play: Play | null
  switches: Switches
  leave: (() => void) | null
}): ComponentChild {
  const { room, play, switches } = props
  return (
    <Head sign={<Mark />} game="Dueling Teapots" room={room} leave={props.leave}>
      {play && (
        <Figures player={play}>
          <Own play={play} />
        </Figures>
      )}
      <Buttons switches={switches} isIn={play !== null} />
    </Head>
  )
}

function Buttons({ switches, isIn }: { switches: Switches; isIn: boolean }): ComponentChild {
  const sound = switches.muted ? 'Sound on' : 'Mute'
  return (
    <span class="switches">
      <button
        type="button"
        class="round"
        aria-pressed={switches.muted}
        aria-label={sound}
        title={sound}
        onClick={() => switches.mute()}
      >
        <Speaker muted={switches.muted} />
      </button>
      {isIn && (
        <button
          type="button"
          class="lid"
          aria-expanded={switches.panel}
          aria-label="Under the lid"
          onClick={() => switches.togglePanel()}
        >
          Under the lid
        </button>
      )}
    </span>
  )
}

const POT =
  'M8 9c-4-3-6 1-5 4s4 5 6 5c1 2 3 3 6 3s5-1 6-3c3-1 4-6 9-9-3-1-6 0-8 2-1-2-3-4-7-4S9 7 8 9Zm0 2' +
  'c0 2 0 3 1 5-3-1-5-3-4-5 0-1 2-1 3 0Zm7-8a2 2 0 0 1 1 4h-2a2 2 0 0 1 1-4Z'

function Mark(): ComponentChild {
  return (
    <svg class="mark" viewBox="0 0 32 24" aria-hidden="true">
      <path fill="currentColor" d={POT} />
    </svg>
  )
}

const WAVES = 'M16 9c1.5 1.5 1.5 4.5 0 6m2.5-9c3.5 3.5 3.5 8.5 0 12'

function Speaker({ muted }: { muted: boolean }): ComponentChild {
  return (
    <svg
      viewBox="0 0 24 24"
      width="18"
      height="18"
      aria-hidden="true"
      fill="none"
      stroke="currentColor"
      stroke-width="2"
      stroke-linecap="round"
      stroke-linejoin="round"
    >
      <path d="M4 10v4h3l5 4V6L7 10H4Z" fill="currentColor" />
      <path d={muted ? 'm16 9 5 6m0-6-5 6' : WAVES} />
    </svg>
  )
}

function Own({ play }: { play: Play }): ComponentChild {
  const { rttMs, role } = play.session.debug.figures()
  return (
    <>
      <li class="figure" title="What this window does for the session">
        {play.serves ? 'you are the server' : role === 'backup' ? 'you are the backup' : ''}
      </li>
      {rttMs !== null && !play.serves && (
        <li class="figure" title="Round trip to the server">
          <b>{Math.max(1, Math.round(rttMs))} ms</b>
        </li>
      )}
    </>
  )
}

/** Who has how many points, and who only watches. */
export function Scores({ play }: { play: Play }): ComponentChild {
  const { session } = play
  const all = play.standings
  const watching = session.members.filter(({ player }) => all.every((row) => row.player !== player))
  const round = rows.round(session.table)
  return (
    <section class="scores" aria-label="Scores">
      <h2>
        Round {round.number} <small>first to {rows.POINTS_TO_WIN}</small>
      </h2>
      <ol>
        {all.map((row) => (
          <Score key={row.player} play={play} row={row} />
        ))}
      </ol>
      {all.length === 0 && <p class="none">Nobody has a pot yet.</p>}
      {watching.length > 0 && (
        <p class="none">Watching: {watching.map(({ name }) => name).join(', ')}</p>
      )}
    </section>
  )
}

function Score({ play, row }: { play: Play; row: rows.Standing }): ComponentChild {
  const { me, members } = play.session
  const member = members.find(({ player }) => player === row.player)
  if (!member) return null
  const lies = row.tea === 0
  return (
    <li class={`${row.player === me.player ? 'mine' : ''} ${lies ? 'lies' : ''}`}>
      <span
        class="dot"
        aria-hidden="true"
        style={{ background: colourOf(play.session, row.player) }}
      />
      <span class="name">{member.name}</span>
      <Role session={play.session} member={member} />
      {row.streak >= rows.BOIL_STREAK && (
        <b class="boil" title={`${row.streak} pots in a row: on the boil`}>
          {row.streak}
        </b>
      )}
      {row.cups > 0 && (
        <span class="cups" title={`${row.cups} rounds won`}>
          {'☕'.repeat(Math.min(3, row.cups))}
        </span>
      )}
      <span class="points" title={`best streak ${row.best}`}>
        {row.points}
      </span>
    </li>
  )
}

/** Who toppled whom. */
export function Feed({ play }: { play: Play }): ComponentChild {
  const { me } = play.session
  const nameOf = (player: number): string => play.nameOf(player) ?? 'Somebody'
  return (
    <ul class="feed" aria-live="off">
      {play.feed.map(({ number, by, victim, bounces }) => (
        <li key={number} class={by === me.player || victim === me.player ? 'mine' : ''}>
          <b>{nameOf(by)}</b> <i>toppled</i> <b>{nameOf(victim)}</b>
          {bounces > 0 && <i> off the {bounces > 1 ? 'second bounce' : 'bounce'}</i>}
        </li>
      ))}
    </ul>
  )
}

/** The winner of the last round, while there is time to cheer. */
export function Winner({ play }: { play: Play }): ComponentChild {
  const { session } = play
  const now = session.now()
  const round = rows.round(session.table)
  if (!rows.isCheering(round, now)) return null
  const winner = session.members.find(({ player }) => player === round.winner)
  const mine = winner?.inc === session.me.inc
  return (
    <div class="winner" role="status">
      <p class="over">Round {round.number - 1}</p>
      <h2>{mine ? 'You win the cup' : `${winner?.name ?? 'Somebody'} wins the cup`}</h2>
      <p>The next pot is poured in {Math.max(1, Math.ceil((round.from - now) / 1000))}…</p>
    </div>
  )
}

/** Whose the lump is that one touched last, and what the session costs. */
export function Touched({ play }: { play: Play }): ComponentChild {
  const { session, sugar } = play
  const { touched } = sugar
  if (!touched?.alive) return null
  const { in: came, out } = session.debug.figures().bytesPerSecond
  return (
    <p class="touched">
      <Whose play={play} lump={touched} />
      <span class="bytes" title="Bytes a second, in and out">
        ↓ {kilobytes(came)} ↑ {kilobytes(out)} kB/s
      </span>
    </p>
  )
}

/** Who owns a lump, and how often it has changed hands. */
export function Whose({ play, lump }: { play: Play; lump: LumpHandle }): ComponentChild {
  const { session } = play
  const { owner, version, away } = lump
  const player = away ? undefined : owner?.player
  const mine = player === session.me.player
  const whose = mine ? 'Yours' : away ? 'Away' : (owner?.name ?? 'Nobody’s')
  return (
    <>
      <i class="ring" aria-hidden="true" style={{ color: colourOf(session, player) }} />
      <b>{whose}</b>
      <span class="version" title="Epoch of the server that gave it away, and a count">
        {version.epoch}.{version.count}
      </span>
    </>
  )
}

/** A thousand bytes and their tenths. */
export function kilobytes(bytes: number): string {
  return (bytes / 1000).toFixed(1)
}

/** One's own tea and cubes. */
export function Bowl({ play }: { play: Play }): ComponentChild {
  const { seat, session } = play
  const row = seat?.standing
  if (!seat || !row) return null
  if (row.tea === 0) {
    const left = Math.max(0, rows.LIE_MS - (session.now() - row.since))
    return <p class="bowl toppled">Toppled! Back in {Math.max(1, Math.ceil(left / 1000))}…</p>
  }
  const { ready } = seat
  const count = (most: number): number[] => Array.from({ length: most }, (_, i) => i)
  return (
    <div class="bowl" role="img" aria-label={`${row.tea} tea, ${ready} cubes`}>
      <span class="drops">
        {count(rows.TEA_MAX).map((i) => (
          <i key={i} class={i < row.tea ? 'full' : ''} />
        ))}
      </span>
      <span class="cubes">
        {count(CUBES_MAX).map((i) => (
          <i key={i} class={i < ready ? 'full' : ''} />
        ))}
      </span>
    </div>
  )
}
