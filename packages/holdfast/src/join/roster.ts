/** The members of a session, from its views. */

import { named } from '../wire/text/plain.ts'
import { HoldfastError, mayPlay, type PeerId } from '../machine.ts'
import type { View } from '../session/messages.ts'
import { NO_VIEW } from '../session/state.ts'
import type { MemberInfo } from '../kind/kind.ts'

export interface RosterChange {
  readonly came: readonly MemberInfo[]
  readonly left: readonly MemberInfo[]
  /** Whether anything about the members changed. */
  readonly changed: boolean
}

export class Roster {
  inc: PeerId = 0
  player = 0
  /** Members that the hub cannot reach. */
  away: ReadonlySet<PeerId> = new Set()
  /** The newest view, also after the session ended. */
  view: View = NO_VIEW
  /** A new array with each change. */
  members: readonly MemberInfo[] = []

  /** This member, also before the first view. */
  get me(): MemberInfo {
    const { player, inc } = this
    return this.find(inc) ?? { player, inc, name: '', kind: 'browser', watches: false }
  }

  /** @throws HoldfastError `watching` if this member only watches */
  checkPlays(verb: string): void {
    if (!this.me.watches) return
    throw new HoldfastError('watching', `cannot ${verb}: this member only watches`)
  }

  find(inc: PeerId): MemberInfo | null {
    return this.members.find((info) => info.inc === inc) ?? null
  }

  findPlayer(player: number): MemberInfo | null {
    return this.members.find((info) => info.player === player) ?? null
  }

  /** Takes a newer view. @param before  the previous one, if any */
  viewed(view: View, before: View | null): RosterChange {
    const known = this.members
    this.view = view
    this.members = view.members.map(({ inc, player, name, kind, rights }) => {
      return { inc, player, name: named(name), kind, watches: !mayPlay(rights) }
    })
    const old = before?.members ?? []
    const isOld = ({ player }: MemberInfo): boolean => {
      return before === null || old.some((other) => other.player === player)
    }
    return {
      came: this.members.filter((info) => !isOld(info)),
      left: known.filter(({ player }) => !this.findPlayer(player)),
      changed: before === null || before.mv !== view.mv,
    }
  }
}
