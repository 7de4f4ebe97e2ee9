/** A hub on a loop by hand, and a store that answers when and what the test says. */

import type { HoldfastError } from '../../packages/holdfast/src/machine.ts'
import type {
  HubLinks,
  Loop,
  Store,
  StoreChange,
  StoreOutcome,
} from '../../packages/holdfast/src/ports.ts'
import { HubServer } from '../../packages/hub/src/server/hub-server.ts'
import { toyCurves } from '../../packages/sim/src/toy-ciphers.ts'
import { Caller } from './caller.ts'
import { listed, OPEN } from './desk.ts'
import { PlainDisk } from './plain-disk.ts'

const PLACE = { game: 'g', room: 'main' }

interface SceneOptions {
  /** The first of its numbers. */
  boot?: number
  /** The wall clock when it starts. */
  wall?: number
  /** Whether other hubs have the disk too, and how it reaches them. */
  isShared?: boolean
  links?: HubLinks
}

/** A hub on a disk, and the clock of its loop. */
export class Scene {
  readonly disk: PlainDisk
  /** Questions to the store so far. */
  asked = 0
  /** The store's answer to a change; null if it has not answered yet: see `late`. */
  answer: (change: StoreChange) => StoreOutcome | null = (change) => this.disk.change(change)
  /** The store's answer to a read of segments. */
  segments: (names: readonly string[]) => (Uint8Array | null)[] | HoldfastError = (names) => {
    return this.disk.find(names)
  }
  /** Whether the store holds back its answers to reads, in `held`. */
  isHeld = false
  readonly held: (() => void)[] = []
  /** Each of these asks `answer` once more about a change that had none. */
  readonly late: (() => void)[] = []
  /** Whether the store says at once that it can be written. */
  isChecked = true
  readonly unchecked: (() => void)[] = []
  /** The error with which the store answers checks and reads; null if it works. */
  trouble: HoldfastError | null = null
  readonly server: HubServer
  #now = 0
  readonly #alarms: { at: number; run: () => void }[] = []
  readonly #isShared: boolean
  #boot: number

  constructor(disk = new PlainDisk(), given: SceneOptions = {}) {
    const { boot = 7, wall = 0, isShared = false, links } = given
    this.disk = disk
    this.#boot = boot
    this.#isShared = isShared
    const options = { wall: () => wall, curves: toyCurves, ...(links && { links }) }
    this.server = new HubServer(this.#loop(), this.#store(), options)
  }

  /** Time passes, in steps in which what is due is done. */
  async pass(ms: number): Promise<void> {
    for (const until = this.#now + ms; this.#now < until; this.#now += 50) {
      for (const own of this.#alarms.filter(({ at }) => at <= this.#now)) {
        own.at = Infinity
        own.run()
      }
      await new Promise((resolve) => setImmediate(resolve))
    }
  }

  found(id = 1, room = PLACE.room, terms = ''): Caller {
    const caller = new Caller(this.server)
    const { hash, link, key } = listed(id)
    const wish = { ...PLACE, room, playersMax: 4, recovers: false, terms, hash, link, ...OPEN, key }
    caller.say({ kind: 'add', request: 1, topology: 'star', ...wish })
    return caller
  }

  #loop(): Loop {
    return {
      now: () => this.#now,
      random: (count) => new Uint8Array(count).fill(this.#boot++),
      soon: (run) => queueMicrotask(run),
      alarm: (run) => {
        const own = { at: Infinity, run }
        this.#alarms.push(own)
        return { set: (at) => void (own.at = at), cancel: () => void (own.at = Infinity) }
      },
    }
  }

  #read(ask: (answer: () => void) => void, answer: () => void): void {
    if (this.isHeld) this.held.push(answer)
    else ask(answer)
  }

  #store(): Store {
    const ask = (run: () => void): void => {
      this.asked++
      queueMicrotask(run)
    }
    return {
      isShared: this.#isShared,
      watch: (changed) => void this.disk.watchers.push(changed),
      entries: () => this.disk.records,
      get: (key, done) =>
        this.#read(ask, () => done(this.trouble ?? this.disk.records.get(key) ?? null)),
      blobs: (_key, names, done) => this.#read(ask, () => done(this.segments(names))),
      check: (done) => {
        if (this.isChecked) ask(() => done(this.trouble))
        else this.unchecked.push(() => done(this.trouble))
      },
      cas: (change, done) => {
        const answer = (): void => {
          const outcome = this.answer(change)
          if (outcome) ask(() => done(outcome))
          else this.late.push(answer)
        }
        answer()
      },
      close: () => {},
    }
  }
}
