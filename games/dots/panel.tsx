/** What stands around the field: header, banner, the list of members, what happened. */

import type { MemberInfo } from 'holdfast'
import type { ComponentChild } from 'preact'
import { Exit } from '../exit.tsx'
import { SAFETY_WORDS, seatOf, STATUS_WORDS } from '../news.ts'
import { Personal } from '../share.tsx'
import type { Play } from './play.ts'
import * as rules from './rules.ts'

/** How things stand, in one row. */
export function Header(props: {
  room: string
  play: Play | null
  leave: (() => void) | null
}): ComponentChild {
  const { room, play } = props
  return (
    <header class="top">
      <Exit class="brand" leave={props.leave}>
        <span class="mark" aria-hidden="true" />
        Dots
      </Exit>
      <span class="room" title="The room you are in">
        {room}
      </span>
      {play && <Figures play={play} />}
    </header>
  )
}

function Figures({ play }: { play: Play }): ComponentChild {
  const status = play.killed ? 'lost' : play.session.status
  return (
    <ul class="figures" aria-label="How things stand">
      <li class={`chip ${status}`} title="Whether this window is in touch with the session">
        <i aria-hidden="true" />
        {play.killed ? 'Killed' : STATUS_WORDS[status]}
      </li>
      {status !== 'lost' && <Standing play={play} />}
    </ul>
  )
}

function Standing({ play }: { play: Play }): ComponentChild {
  const { safety } = play.session
  const { epoch, rttMs, path } = play.session.figures()
  const [safe, meaning] = SAFETY_WORDS[safety]
  const way = play.serves ? 'you are the server' : path === 'none' ? 'no path' : path
  return (
    <>
      <li class={`chip ${safety}`} title={meaning}>
        <i aria-hidden="true" />
        {safe}
      </li>
      <li class="figure" title="Rises whenever a role changes hands">
        epoch <b>{epoch}</b>
      </li>
      <li class="figure" title="Round trip to the server, and the way it takes">
        {rttMs !== null && !play.serves && <b>{Math.max(1, Math.round(rttMs))} ms</b>} {way}
      </li>
    </>
  )
}

/** The newest sentence that matters; it is read out, and goes after a while. */
export function Banner({ play }: { play: Play | null }): ComponentChild {
  const note = play?.story.banner
  return (
    <div class="banner" role="status" aria-live="polite">
      {note && (
        <p key={note.id} class={note.kind}>
          {note.text}
        </p>
      )}
    </div>
  )
}

/** Who is here, what happened, and the button. */
export function Side({ play, personal }: { play: Play; personal: string }): ComponentChild {
  const { members } = play.session
  return (
    <aside class="side">
      <h2>
        Players <span class="count">{members.length}</span>
      </h2>
      <ul class="members">
        {members.map((member) => (
          <Member key={member.player} play={play} member={member} />
        ))}
      </ul>
      <Killer play={play} />
      <h2>What happened</h2>
      <ol class="notes">
        {play.story.notes.map((note) => (
          <li key={note.id} class={note.kind}>
            {note.text}
          </li>
        ))}
        {play.story.notes.length === 0 && (
          <li class="none">Nothing yet. Move, and click to pin.</li>
        )}
      </ol>
      <details class="personal">
        <summary>Continue on another device</summary>
        <Personal link={personal} />
      </details>
      <p class="keys">
        Move: pointer, arrows or <kbd>WASD</kbd>. Pin: click, tap or <kbd>space</kbd>.
      </p>
    </aside>
  )
}

function Member({ play, member }: { play: Play; member: MemberInfo }): ComponentChild {
  const { primary, backup, me } = play.session
  const count = rules.countOf(play.session, member.player)
  return (
    <li>
      <span class="dot" aria-hidden="true" style={{ background: rules.colourOf(member.player) }} />
      <span class="name">{member.name}</span>
      <span class="badges">
        {member.inc === primary?.inc && (
          <b class="badge server" title="Orders what everybody does">
            server
          </b>
        )}
        {member.inc === backup?.inc && (
          <b class="badge backup" title="Has a copy of everything; takes over if the server dies">
            backup
          </b>
        )}
        {member.inc === me.inc && <b class="badge you">you</b>}
        {member.kind === 'node' && (
          <b class="badge" title="A process without a window">
            node
          </b>
        )}
      </span>
      <span class="pins" title={`${count} pins dropped`}>
        {count}
      </span>
    </li>
  )
}

function Killer({ play }: { play: Play }): ComponentChild {
  const { primary, backup, me } = play.session
  const whose = play.serves ? 'this window' : primary && seatOf(primary)
  const next = backup?.inc === me.inc ? 'You take over.' : `${backup?.name} takes over.`
  return (
    <div class="killer">
      <button type="button" class="danger" disabled={!play.killable} onClick={() => play.kill()}>
        Kill the server
        {whose && <small>{whose}</small>}
      </button>
      <p>
        {backup
          ? `It dies on the spot, without goodbye. ${next}`
          : 'Nobody could take over yet: it takes a second player.'}
      </p>
    </div>
  )
}
