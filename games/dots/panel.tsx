/** What stands around the field: header, the list of members, what happened. */

import type { MemberInfo } from 'holdfast'
import type { ComponentChild } from 'preact'
import { Expel, Outside } from '../expel.tsx'
import { Head } from '../head.tsx'
import { Invite } from '../invite.tsx'
import { Personal, Share } from '../share.tsx'
import { Badges, Figures, Killer, Notes, Reach } from '../signs.tsx'
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
    <Head
      sign={<span class="mark" aria-hidden="true" />}
      game="Dots"
      room={room}
      leave={props.leave}
    >
      {play && (
        <Figures player={play}>
          <Reach player={play} />
        </Figures>
      )}
    </Head>
  )
}

/** Who is here, what happened, and the button. */
export function Side(props: { play: Play; share: string; personal: string }): ComponentChild {
  const { play, share, personal } = props
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
      <Outside player={play} />
      <Invite company={play.company} />
      <Killer player={play} />
      <h2>Invite others</h2>
      <Share link={share} />
      <details class="personal">
        <summary>Continue on another device</summary>
        <Personal link={personal} />
      </details>
      <p class="keys">
        Move: pointer, arrows or <kbd>WASD</kbd>. Pin: click, tap or <kbd>space</kbd>.
      </p>
      {/* Last, for it grows: what has the focus stays where it is. */}
      <h2>What happened</h2>
      <Notes story={play.story} none="Nothing yet. Move, and click to pin." />
    </aside>
  )
}

function Member({ play, member }: { play: Play; member: MemberInfo }): ComponentChild {
  const count = rules.countOf(play.session.table, member.player)
  return (
    <li>
      <span class="dot" aria-hidden="true" style={{ background: rules.colourOf(member.player) }} />
      <span class="name">{member.name}</span>
      <Badges session={play.session} member={member} />
      <Expel player={play} member={member} />
      {!play.plays(member.player) && <span class="watches">watches</span>}
      <span class="pins" title={`${count} pins dropped`}>
        {count}
      </span>
    </li>
  )
}
