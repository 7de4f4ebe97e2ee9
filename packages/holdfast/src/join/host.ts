/** What the face of one kind gets of its session. */

import type { Millis, PeerId } from '../machine.ts'
import type { PartOut } from '../kind/protocol/part.ts'
import { partOut } from '../member/dispatch.ts'
import * as member from '../member/member.ts'
import type { Reports } from '../api/reports.ts'
import type { Runner } from '../runtime/runner.ts'
import type { Companion, Host, MemberInfo } from '../kind/kind.ts'
import type { Question, Questions } from '../kind/questions.ts'
import type { Roster } from './roster.ts'

/** What all hosts of one session share. */
export interface Shared {
  readonly reports: Reports
  readonly options: Host['options']
  readonly companions: Companion[]
  readonly roster: Roster
  /** Null before there is a member, and once we left. */
  runner(): Runner | null
  isOver(): boolean
  readonly questions: Questions
  emit(event: string, value: unknown): boolean
}

/** See the head of this file. */
export class KindHost implements Host {
  readonly reports: Reports
  readonly options: Host['options']
  readonly companions: Companion[]
  readonly #shared: Shared
  readonly #channel: number

  constructor(shared: Shared, channel: number) {
    this.#shared = shared
    this.#channel = channel
    this.reports = shared.reports
    this.options = shared.options
    this.companions = shared.companions
  }

  get over(): boolean {
    return this.#shared.isOver()
  }

  get session(): string {
    return this.#shared.runner()?.member.session.id ?? ''
  }

  get player(): number {
    return this.#shared.roster.player
  }

  get members(): readonly MemberInfo[] {
    return this.#shared.roster.members
  }

  get primary(): MemberInfo | null {
    return this.find(this.#shared.roster.view.primary)
  }

  find(inc: PeerId): MemberInfo | null {
    return this.#shared.roster.find(inc)
  }

  isAway(inc: PeerId): boolean {
    return this.#shared.roster.away.has(inc)
  }

  findPlayer(player: number): MemberInfo | null {
    return this.#shared.roster.findPlayer(player)
  }

  checkPlays(verb: string): void {
    this.#shared.roster.checkPlays(verb)
  }

  emit(event: string, value: unknown): boolean {
    return this.#shared.emit(event, value)
  }

  clock(): Millis {
    return this.#shared.runner()?.loop.now() ?? NaN
  }

  time(): Millis {
    return this.#shared.runner()?.sessionTime() ?? NaN
  }

  changing(): Millis {
    return this.#shared.runner()?.changeTime() ?? NaN
  }

  do<Result>(verb: (now: Millis, out: PartOut) => Result): Result | undefined {
    return this.#shared.runner()?.do((now, run) => verb(now, partOut(run, this.#channel)))
  }

  doNow<Result>(verb: (now: Millis, out: PartOut) => Result): Result | undefined {
    return this.#shared.runner()?.do((now, run) => {
      const result = verb(now, partOut(run, this.#channel))
      member.touched(run, now)
      return result
    })
  }

  touch(): void {
    this.#shared.runner()?.touch()
  }

  tell(): void {
    this.#shared.runner()?.tell()
  }

  ask(question: Question): void {
    this.#shared.questions.ask(this.#shared.runner(), this.#channel, question)
  }
}
