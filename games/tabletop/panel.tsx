/** What stands beside the table: who is here, the rules, what happened, links, the kill button. */

import type { MemberInfo } from 'holdfast'
import type { ComponentChild } from 'preact'
import { Expel, Outside } from '../expel.tsx'
import { Head } from '../head.tsx'
import { Invite } from '../invite.tsx'
import { Personal, Share } from '../share.tsx'
import { Badges, Figures, Killer, Notes, Reach } from '../signs.tsx'
import { Absent } from './away.tsx'
import { Backs } from './bar.tsx'
import { colourOf } from './colours.ts'
import type { Play } from './play.ts'
import { gameOf, isDuel } from './rules/seats.ts'
import { RULES, TITLES } from './rules/words.ts'
import { KEYS } from './typing.ts'

/** How things stand, in one row. */
export function Header(props: {
  room: string
  play: Play | null
  leave: (() => void) | null
  panel: boolean
  toggle: () => void
}): ComponentChild {
  const { room, play, panel } = props
  const game = play && gameOf(play.session.table)
  return (
    <Head
      sign={<Mark />}
      game="Tabletop"
      room={game ? `${room} · ${TITLES[game][0]}` : room}
      leave={props.leave}
    >
      {play && (
        <Figures player={play}>
          <Reach player={play} />
        </Figures>
      )}
      {props.leave && (
        <button type="button" class="lid" aria-expanded={panel} onClick={props.toggle}>
          {panel ? 'Hide panel' : 'Panel'}
        </button>
      )}
    </Head>
  )
}

function Mark(): ComponentChild {
  return (
    <svg viewBox="-12 -14 24 28" width="18" height="20" aria-hidden="true">
      <rect x="-9" y="-13" width="18" height="26" rx="3" fill="#fdfbf5" />
      <path d="M0 -6q6 6 0 12q-6 -6 0 -12z" fill="#c8283c" />
    </svg>
  )
}

/** See the head of this file. */
export function Side(props: {
  play: Play
  share: string
  personal: string
  choose: () => void
  close: () => void
}): ComponentChild {
  const { play } = props
  return (
    <aside class="side">
      <div class="row head">
        <h2>
          At the table <span class="count">{play.session.members.length}</span>
        </h2>
        <button type="button" class="shut" aria-label="Close" onClick={props.close}>
          ×
        </button>
      </div>
      <Members play={play} />
      <Invite company={play.company} />
      <Share link={props.share} label="Invite others with this link" />
      <Rules play={play} choose={props.choose} />
      <h2>Moves</h2>
      <Moves play={play} />
      <Killer player={play} />
      <details class="more">
        <summary>The session</summary>
        <Notes story={play.story} none="Nothing happened to it yet." />
      </details>
      <details class="more">
        <summary>Continue on another device</summary>
        <Personal link={props.personal} />
      </details>
    </aside>
  )
}

function Members({ play }: { play: Play }): ComponentChild {
  return (
    <>
      <ul class="members">
        {play.session.members.map((member) => (
          <Member key={member.player} play={play} member={member} />
        ))}
        <Absent play={play} />
      </ul>
      <Outside player={play} />
    </>
  )
}

function Rules({ play, choose }: { play: Play; choose: () => void }): ComponentChild {
  const game = gameOf(play.session.table)
  if (!game) return null
  return (
    <>
      <details class="rules">
        <summary>{TITLES[game][0]}: the rules</summary>
        <ul>
          {RULES[game].map((rule) => (
            <li key={rule}>{rule}</li>
          ))}
        </ul>
      </details>
      {!play.watching && (
        <button type="button" onClick={choose}>
          Play something else…
        </button>
      )}
    </>
  )
}

function Member({ play, member }: { play: Play; member: MemberInfo }): ComponentChild {
  const { player, name } = member
  const game = gameOf(play.session.table)
  const plays = play.ghosts.players.includes(player)
  return (
    <li>
      <span class="dot" aria-hidden="true" style={{ background: colourOf(player) }} />
      <span class="name">{name}</span>
      <Badges session={play.session} member={member} />
      <Expel player={play} member={member} />
      {!plays && <span class="watches">watches</span>}
      {plays && game && !isDuel(game) && <Backs count={play.handOf(player).length} />}
    </li>
  )
}

function Moves({ play }: { play: Play }): ComponentChild {
  const { lines } = play.log
  return (
    <ol class="moves">
      {lines.map(({ id, player, text }) => (
        <li key={id}>
          <b style={{ color: colourOf(player) }}>
            {player === play.session.me.player ? 'You' : play.called(player)}
          </b>{' '}
          {text}
        </li>
      ))}
      {lines.length === 0 && <li class="none">Nothing was moved yet.</li>}
    </ol>
  )
}

/** The words over our hand of cards. */
export function HandWords(props: { play: Play; bottom: number }): ComponentChild {
  const { play, bottom } = props
  const { primary, backup, me } = play.session
  const count = play.tray.cards.length
  const isFree = gameOf(play.session.table) === 'free'
  const knowing = [primary, backup].flatMap((member) => {
    return member && member.inc !== me.inc ? [member.name] : []
  })
  const as = primary?.inc === me.inc ? 'the backup' : 'the server'
  const but =
    knowing.length === 0
      ? 'Only you see it.'
      : `Hidden from all but ${knowing.join('’s and ')}’s ` +
        `machine${knowing.length > 1 ? 's: server and backup.' : `: ${as}.`}`
  const title =
    'The cards of a hand are sent to nobody but their player. The machines that serve as server ' +
    'and as backup hold the whole table, and could be made to show it.'
  return (
    <div class="words" style={{ bottom: `${bottom - 28}px` }}>
      <b>Your hand · {count}</b>
      <span class="fine" title={title}>
        {count > 0 ? but : isFree ? 'Drag cards here: then the other players do not see them.' : ''}
      </span>
      {count > 1 && (
        <button type="button" onClick={() => play.sortHand()}>
          Sort
        </button>
      )}
    </div>
  )
}

/** The buttons in the corner. */
export function Tools(props: {
  play: Play | null
  bottom: number
  selects: boolean
  acts: { fit: () => void; zoom: (factor: number) => void; select: () => void; help: () => void }
}): ComponentChild {
  const { play, bottom, selects, acts } = props
  const canPlay = play !== null && !play.watching
  return (
    <div class="tools" role="toolbar" aria-label="View" style={{ bottom: `${bottom + 12}px` }}>
      {canPlay && (
        <>
          <Tool name="Take my last move back (Z)" act={() => void play.takeBack()}>
            <path d="M9 7L4 12l5 5M4 12h10a5 5 0 0 1 0 10h-2" />
          </Tool>
          <Tool name="Select with a frame (or hold Shift)" act={acts.select} pressed={selects}>
            <path d="M4 8V4h4M16 4h4v4M20 16v4h-4M8 20H4v-4" stroke-dasharray="4 0" />
            <rect x="9" y="9" width="6" height="6" rx="1" fill="currentColor" stroke="none" />
          </Tool>
        </>
      )}
      <Tool name="Nearer (+)" act={() => acts.zoom(1.25)}>
        <path d="M12 5v14M5 12h14" />
      </Tool>
      <Tool name="Farther (−)" act={() => acts.zoom(0.8)}>
        <path d="M5 12h14" />
      </Tool>
      <Tool name="Fit; again: another part (0)" act={acts.fit}>
        <path d="M4 9V4h5M20 9V4h-5M4 15v5h5M20 15v5h-5" />
      </Tool>
      <Tool name="Keys and hints (?)" act={acts.help}>
        <path d="M8.5 9a3.5 3.5 0 1 1 5 3.2c-1 .5-1.5 1-1.5 2.3M12 18.5v.2" />
      </Tool>
    </div>
  )
}

function Tool(props: {
  name: string
  act: () => void
  pressed?: boolean
  children: ComponentChild
}): ComponentChild {
  return (
    <button
      type="button"
      title={props.name}
      aria-label={props.name}
      aria-pressed={props.pressed}
      onClick={props.act}
    >
      <svg viewBox="0 0 24 24" width="20" height="20" aria-hidden="true">
        {props.children}
      </svg>
    </button>
  )
}

/** All keys, and what fingers do. */
export function Help({ close }: { close: () => void }): ComponentChild {
  return (
    <section class="card help" role="dialog" aria-label="Keys and hints">
      <h2>Keys and hints</h2>
      <dl>
        {KEYS.map(([keys, does]) => (
          <div key={keys}>
            <dt>
              <kbd>{keys}</kbd>
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
      <p class="fine">
        Drag the ground to move the table, the wheel or two fingers zoom. Shift with a click or a
        drag selects several. A right click or a long press opens the menu; on the bare table it
        points there, for all to see.
      </p>
      <button type="button" class="main" onClick={close}>
        Close
      </button>
    </section>
  )
}

/** Short words to this player. */
export function Said({ play }: { play: Play }): ComponentChild {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {play.toasts.now.map(({ id, text, player }) => (
        <p key={id} style={player === 0 ? undefined : { borderColor: colourOf(player) }}>
          {player !== 0 && <i style={{ background: colourOf(player) }} />}
          {text}
        </p>
      ))}
    </div>
  )
}
