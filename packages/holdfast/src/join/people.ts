/** What an application gives and gets where it invites players and puts them out. */

export type { Ballot, Banned, ConductOutcome, PlayerTarget } from './conduct.ts'
export type { InviteOptions, InviteOutcome } from './inviting.ts'
export type { MemberInfo } from '../kind/member-info.ts'
