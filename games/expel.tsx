/** Putting a player out: beside each name for who may, and who was banned, to let them in again. */

import type { ConductOutcome, MemberInfo, Session } from 'holdfast'
import type { ComponentChild } from 'preact'
import type { Player } from './player.ts'

/** The two ways to put a player out; nothing for oneself, and where one may not. */
export function Expel({ player, member }: { player: Player; member: MemberInfo }): ComponentChild {
  const { session } = player
  if (!session.mayExpel || member.inc === session.me.inc) return null
  const { name } = member
  const put = (asked: Promise<ConductOutcome>): void => void tell(player, asked)
  return (
    <details class="expel">
      <summary aria-label={`Put ${name} out`} title={`Put ${name} out`}>
        …
      </summary>
      <span class="row">
        <button type="button" onClick={() => put(session.kick(member))}>
          Kick {name}
        </button>
        <button type="button" onClick={() => put(session.ban(member))}>
          Ban {name}
        </button>
      </span>
    </details>
  )
}

/** Who was banned; nothing while nobody is. */
export function Outside({ player }: { player: Player }): ComponentChild {
  const { session } = player
  if (session.banned.length === 0) return null
  return (
    <ul class="outside" aria-label="Banned">
      {session.banned.map((row) => (
        <li key={row.player}>
          {row.name || 'Somebody'} is banned{row.why && `: ${row.why}`}
          {session.mayExpel && (
            <button type="button" onClick={() => void tell(player, session.pardon(row.player))}>
              Let {row.name || 'them'} in again
            </button>
          )}
        </li>
      ))}
    </ul>
  )
}

async function tell({ story }: Player, asked: Promise<ConductOutcome>): Promise<void> {
  const outcome = await asked
  if (!outcome.ok) story.note(outcome.reason, 'bad')
}

/** The heading of the end for who was put out; null for any other end. */
export function putOut({ code }: Session): string | null {
  if (code === 'kicked') return 'You were put out'
  return code === 'banned' ? 'You were banned' : null
}
