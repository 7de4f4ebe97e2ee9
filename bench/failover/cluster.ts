/**
 * A hub and a number of members, each in a process of its own, all acting all the time; and the
 * questions one asks of them.
 */

import type { ChildProcess } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { BOUND_MIN_MS } from '../../packages/holdfast/src/session/failure-detector.ts'
import { end, heard, serve, start } from '../processes/children.ts'
import { clock } from '../processes/clock.ts'
import type { Asked, Figures, Row, Said } from './words.ts'

/** How many play. */
export const MEMBERS = 8
/** Each has one operation under way, and begins the next no sooner than this after it. */
export const EVERY_MS = 4

const START_MS = 20_000
const ANSWER_MS = 5_000
const STEADY_MS = 60_000
// On a machine that is never quiet the detector may stay slower for good.
const MEASURED_MS = 15_000

/** One member's process. */
export interface Hand {
  child: ChildProcess
  inc: number
  player: number
  ledger: string
  /** What it told by itself since the last `forget`. */
  told: Said[]
}

/** What is left of what was acknowledged. */
export interface Balance {
  acked: number
  lost: number
  doubled: number
}

/** See the head of this file. */
export class Cluster {
  readonly #folder: string
  readonly #ears: 'watch' | 'deaf'
  readonly #every: number
  readonly #ledgers: string[] = []
  #hub: ChildProcess | null = null
  #url = ''
  hands: Hand[] = []

  /** @param ears whether members hear of closed ports, or have the heartbeat alone */
  constructor(folder: string, ears: 'watch' | 'deaf', every = EVERY_MS) {
    this.#folder = folder
    this.#ears = ears
    this.#every = every
  }

  /** Starts the hub, the member that founds the session, and the others. */
  async open(): Promise<void> {
    const { child, url } = await serve(join(this.#folder, `hub-${this.#ears}.db`), START_MS)
    this.#hub = child
    this.#url = url
    await this.hire()
    await Promise.all(Array.from({ length: MEMBERS - 1 }, () => this.hire()))
  }

  /** One more member. */
  async hire(): Promise<void> {
    const ledger = join(this.#folder, `ledger-${this.#ears}-${this.#ledgers.length}`)
    this.#ledgers.push(ledger)
    const child = start(new URL('./member.js', import.meta.url), [
      this.#url,
      ledger,
      this.#every,
      this.#ears,
    ])
    const told: Said[] = []
    child.on('message', (said: Said) => {
      if (said.kind !== 'figures') told.push(said)
    })
    const isIn = (said: Said): said is Said & { kind: 'in' } => said.kind === 'in'
    const { inc, player } = await heard(child, isIn, 'a member', START_MS)
    this.hands.push({ child, inc, player, ledger, told })
  }

  /** Kills a member's process, or stops it for good. @returns the instant before */
  dismiss(hand: Hand, how: 'SIGKILL' | 'SIGSTOP' = 'SIGKILL'): number {
    this.hands = this.hands.filter((other) => other !== hand)
    const at = clock()
    hand.child.kill(how)
    return at
  }

  /** The member with that number. */
  handOf(inc: number): Hand {
    const hand = this.hands.find((other) => other.inc === inc)
    if (!hand) throw new Error(`member ${inc} is none of ours`)
    return hand
  }

  /** How things stand at all members, in the order of `hands`. */
  figures(): Promise<Figures[]> {
    const isFigures = (said: Said): said is Said & { kind: 'figures' } => said.kind === 'figures'
    return Promise.all(
      this.hands.map(async (hand) => {
        const answer = heard(hand.child, isFigures, 'figures of a member', ANSWER_MS)
        hand.child.send('figures' satisfies Asked)
        const { figures } = await answer
        // Who was falsely suspected is back under another number.
        hand.inc = figures.inc
        return figures
      }),
    )
  }

  /**
   * Waits until all are in, a backup holds all, and the backup's detector has measured enough to
   * be as quick as it gets, which a busy machine may prevent.
   *
   * @returns the backup
   */
  async steady(): Promise<Figures> {
    const start = clock()
    let found: Figures[] = []
    while (clock() - start < STEADY_MS) {
      found = await this.figures()
      const backup = found.find((one) => one.role === 'backup')
      const quick = backup?.suspectMs === BOUND_MIN_MS || clock() - start > MEASURED_MS
      if (backup && quick && isWhole(found, backup)) return backup
      await pause(50)
    }
    throw new Error(`not steady within ${STEADY_MS} ms: ${JSON.stringify(found)}`)
  }

  /** Forgets what was told so far. */
  forget(): void {
    for (const hand of this.hands) hand.told.length = 0
  }

  /** Lets all come to rest, and compares what they acknowledged with what each table holds. */
  async rest(): Promise<Balance> {
    const isRested = (said: Said): said is Said & { kind: 'rested' } => said.kind === 'rested'
    const found = await Promise.all(
      this.hands.map(({ child }) => {
        const answer = heard(child, isRested, 'a member at rest', ANSWER_MS)
        child.send('rest' satisfies Asked)
        return answer
      }),
    )
    const ledgers = this.#ledgers.map(readLedger)
    const balances = found.map(({ rows }) => compare(ledgers, rows))
    return {
      acked: balances[0]!.acked,
      lost: Math.max(...balances.map(({ lost }) => lost)),
      doubled: Math.max(...balances.map(({ doubled }) => doubled)),
    }
  }

  /** Kills all. */
  async close(): Promise<void> {
    await Promise.all(this.hands.map(({ child }) => end(child)))
    if (this.#hub) await end(this.#hub)
    this.hands = []
  }
}

function isWhole(found: readonly Figures[], backup: Figures): boolean {
  const primary = found.find((one) => one.role === 'backedup')
  return (
    primary?.backup === backup.inc &&
    found.every((one) => one.epoch === backup.epoch && one.members === MEMBERS)
  )
}

// What a process had been told to be done, even if it was killed a moment later.
function readLedger(path: string): { player: number; acked: number } {
  const bytes = readFileSync(path)
  if (bytes.length < 16) return { player: 0, acked: 0 }
  return { player: bytes.readDoubleLE(0), acked: bytes.readDoubleLE(8) }
}

/** What is missing and what is there twice, of what was acknowledged. */
export function compare(
  ledgers: readonly { player: number; acked: number }[],
  rows: readonly Row[],
): Balance {
  const balance: Balance = { acked: 0, lost: 0, doubled: 0 }
  for (const { player, acked } of ledgers) {
    const row = rows.find((other) => other.player === player)
    balance.acked += acked
    balance.lost += Math.max(0, acked - (row?.last ?? 0))
  }
  for (const { missing, doubled } of rows) {
    balance.lost += missing
    balance.doubled += doubled
  }
  return balance
}
