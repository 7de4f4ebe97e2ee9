/**
 * A store behind a bad network: answers come late or are lost, and changes are made late. Whatever
 * it answers is true.
 */

import { checkChange } from '../../packages/holdfast/src/drivers/store/limits.ts'
import { HoldfastError } from '../../packages/holdfast/src/machine.ts'
import type { Store, StoreChange, StoreOutcome } from '../../packages/holdfast/src/ports.ts'
import { type Dice, dice } from '../conformance/until.ts'

/** What becomes of a change. */
const FATES = [
  /** It is answered. */
  'answered',
  /** It is made, and the answer `unknown`. */
  'lost',
  /** It is never made, and the answer `unknown`. */
  'dropped',
  /** The answer is `unknown`; before or after it the change is made, if its revision still is. */
  'late',
] as const
type Fate = (typeof FATES)[number]

interface Faults {
  readonly seed: number
  /** Runs something a little later, such as at an alarm or in the next turn. */
  readonly later: (run: () => void) => void
  /** How many of 100 changes have another fate than to be answered. Default 50. */
  readonly percent?: number
}

/** Most times of `later` on one way, and before a late change sets out. */
const WAITS_MAX = 3
const LATE_MAX = 12

export class FaultyStore implements Store {
  /** How many changes had each fate. */
  readonly fates: Record<Fate, number> = { answered: 0, lost: 0, dropped: 0, late: 0 }
  /** What is still on its way. */
  pending = 0
  readonly #store: Store
  readonly #faults: Faults
  readonly #random: Dice
  #open = true

  /** @param store  stays open when this one is closed, for others that share it */
  constructor(store: Store, faults: Faults) {
    this.#store = store
    this.#faults = faults
    this.#random = dice(faults.seed)
  }

  entries(): ReturnType<Store['entries']> {
    this.#check()
    return this.#store.entries()
  }

  get(key: string, done: Parameters<Store['get']>[1]): void {
    this.#check()
    this.#wait(() => this.#store.get(key, this.#answering(done)))
  }

  blobs(...[key, names, done]: Parameters<Store['blobs']>): void {
    this.#check()
    this.#wait(() => this.#store.blobs(key, names, this.#answering(done)))
  }

  cas(change: StoreChange, done: (outcome: StoreOutcome) => void): void {
    this.#check()
    checkChange(change)
    const own = structuredClone(change)
    const answer = this.#answering(done)
    const make = (then: (outcome: StoreOutcome) => void): void => {
      this.#wait(() => this.#store.cas(own, then))
    }
    const fate = this.#fate()
    this.fates[fate]++
    if (fate === 'answered') return make(answer)
    if (fate === 'lost') return make(() => answer('unknown'))
    answer('unknown')
    if (fate === 'late') this.#wait(() => make(() => {}), LATE_MAX)
  }

  check(done: Parameters<Store['check']>[0]): void {
    this.#check()
    this.#wait(() => this.#store.check(this.#answering(done)))
  }

  /** Late changes are made all the same. */
  close(): void {
    this.#open = false
  }

  #fate(): Fate {
    if (this.#random.below(100) >= (this.#faults.percent ?? 50)) return 'answered'
    return FATES[1 + this.#random.below(FATES.length - 1)]!
  }

  // The way back.
  #answering<Answer>(
    done: (answer: Answer | HoldfastError) => void,
  ): (answer: Answer | HoldfastError) => void {
    return (answer) => this.#wait(() => done(this.#open ? answer : closed()))
  }

  #wait(run: () => void, max = WAITS_MAX): void {
    this.pending++
    let left = 1 + this.#random.below(max)
    const pass = (): void => {
      if (--left > 0) return this.#faults.later(pass)
      this.pending--
      run()
    }
    this.#faults.later(pass)
  }

  #check(): void {
    if (!this.#open) throw closed()
  }
}

function closed(): HoldfastError {
  return new HoldfastError('store', 'the store is closed')
}
