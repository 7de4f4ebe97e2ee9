/** Signs of how a session stands, the same in every game. */

import type { MemberInfo, Session } from 'holdfast'
import type { ComponentChild, ComponentChildren } from 'preact'
import { SAFETY_WORDS, seatOf, STATUS_WORDS } from './news.ts'
import type { Player } from './player.ts'
import type { Story } from './story.ts'

const HUB_TITLES = {
  waiting: 'The store of the hub does not answer: nothing is kept, and nobody can take over',
  down: 'The hub does not answer: nobody new can come in',
}

/** In touch? Safe? @param children  figures of the game's own choice, while in touch */
export function Figures(props: { player: Player; children: ComponentChildren }): ComponentChild {
  const { session, killed } = props.player
  const status = killed ? 'lost' : session.status
  const [safe, meaning] = SAFETY_WORDS[session.safety]
  return (
    <ul class="figures" aria-label="How things stand">
      <li class={`chip ${status}`} title="Whether this window is in touch with the session">
        <i aria-hidden="true" />
        {killed ? 'Killed' : STATUS_WORDS[status]}
      </li>
      {status !== 'lost' && (
        <>
          <li class={`chip ${session.safety}`} title={meaning}>
            <i aria-hidden="true" />
            {safe}
          </li>
          {session.hub !== 'up' && (
            <li class="chip reconnecting" title={HUB_TITLES[session.hub]}>
              <i aria-hidden="true" />
              {session.hub === 'down' ? 'No hub' : 'Hub waits'}
            </li>
          )}
          {props.children}
        </>
      )}
    </ul>
  )
}

/** Figures: how often roles changed hands, and how far the server is. */
export function Reach({ player }: { player: Player }): ComponentChild {
  const { epoch, rttMs, path } = player.session.debug.figures()
  const way = player.serves ? 'you are the server' : path === 'none' ? 'no path' : path
  return (
    <>
      <li class="figure wide" title="Rises whenever a role changes hands">
        epoch <b>{epoch}</b>
      </li>
      <li class="figure wide" title="Round trip to the server, and the way it takes">
        {rttMs !== null && !player.serves && <b>{Math.max(1, Math.round(rttMs))} ms</b>} {way}
      </li>
    </>
  )
}

/** The newest sentence that matters; it is read out, and goes after a while. */
export function Banner({ player }: { player: Player | null }): ComponentChild {
  const note = player?.story.banner
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

/** What a member does for the session. */
export function Role(props: { session: Session; member: MemberInfo }): ComponentChild {
  const { session, member } = props
  if (member.inc === session.primary?.inc) {
    return (
      <b class="badge server" title="Orders what everybody does">
        server
      </b>
    )
  }
  if (member.inc !== session.backup?.inc) return null
  return (
    <b class="badge backup" title="Has a copy of everything; takes over if the server dies">
      backup
    </b>
  )
}

const KIND_WORDS = {
  udp: 'UDP',
  webrtc: 'WebRTC',
  websocket: 'a WebSocket',
} as const
const WHY_WORDS = {
  'no-address': 'it has no address that this window reaches',
  opening: 'a direct path is being opened',
  proving: 'the direct path failed, and must prove itself',
  'no-answer': 'it did not answer directly',
} as const

/** By which path packets go to a member that this window has a link with. */
function Path(props: { session: Session; member: MemberInfo }): ComponentChild {
  const path = props.session.paths().find(({ member }) => member.inc === props.member.inc)
  if (!path) return null
  const { kind, why, rttMs, loss } = path
  const way = kind === 'relay' ? 'Through the hub' : `Directly by ${KIND_WORDS[kind]}`
  const because = why === null ? '' : `: ${WHY_WORDS[why]}`
  const trip = rttMs === null ? '' : `, ${Math.max(1, Math.round(rttMs))} ms`
  const lost = `, ${(100 * loss).toFixed(1)} % lost`
  return (
    <b class="badge" title={`${way}${because}${trip}${lost}`}>
      {kind === 'relay' ? 'hub' : 'direct'}
    </b>
  )
}

/** What there is to say of a member beside its name. */
export function Badges(props: { session: Session; member: MemberInfo }): ComponentChild {
  const { session, member } = props
  return (
    <span class="badges">
      <Role session={session} member={member} />
      {member.inc === session.me.inc && <b class="badge you">you</b>}
      <Path session={session} member={member} />
      {member.kind === 'guest' && (
        <b class="badge" title="Plays from somebody’s window, and never serves">
          bot
        </b>
      )}
      {member.kind === 'node' && (
        <b class="badge" title="A process on Node, not a page">
          node
        </b>
      )}
    </span>
  )
}

/** The button that kills whoever serves; only a demonstration has it. */
export function Killer({ player }: { player: Player }): ComponentChild {
  if (!player.demo) return null
  const { primary } = player.session
  const whose = player.serves ? 'this window' : primary && seatOf(primary)
  return (
    <div class="killer">
      <button
        type="button"
        class="danger"
        disabled={!player.killable}
        onClick={() => player.kill()}
      >
        Kill the server
        {whose && <small>{whose}</small>}
      </button>
      <p>{killing(player.session)}</p>
    </div>
  )
}

/** What the button does. */
function killing({ primary, backup, me, members }: Session): string {
  const hasBots = members.some(({ kind }) => kind === 'guest')
  if (!backup)
    return `Nobody could take over yet: it takes another player${hasBots ? ', no bot' : ''}.`
  const next = backup.inc === me.inc ? 'You take over.' : `${backup.name} takes over.`
  // A page obeys where this one has the button; a process says itself whether it does.
  const dies = primary?.kind === 'node' ? 'If it was started so, it dies' : 'It dies'
  return `${dies} on the spot, without goodbye. ${next}`
}

/** What happened. @param none  what to say when nothing did */
export function Notes({ story, none }: { story: Story; none: string }): ComponentChild {
  return (
    <ol class="notes">
      {story.notes.map((note) => (
        <li key={note.id} class={note.kind}>
          {note.text}
        </li>
      ))}
      {story.notes.length === 0 && <li class="none">{none}</li>}
    </ol>
  )
}
