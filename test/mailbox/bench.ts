/**
 * Mailboxes in one process, on a clock that the test moves: stores that outlive them, a wire in
 * memory that can be cut, and what each reports.
 */

import {
  emptyContent,
  type MailContent,
  MailMemory,
} from '../../packages/mailbox/src/drivers/mail-memory.ts'
import { openIn } from '../../packages/mailbox/src/mail-opening.ts'
import {
  HoldfastError,
  type Mailbox,
  type MailboxOptions,
  type Way,
} from '../../packages/mailbox/src/index.ts'
import type { Stream } from '../../packages/holdfast/src/ports.ts'
import { toyCurves } from '../../packages/sim/src/toy-ciphers.ts'
import { Clock } from './clock.ts'

/** When the test begins, by the wall clock. */
const DATE = 1_700_000_000_000

/** What a test says of a mailbox. */
type Wish = Partial<MailboxOptions> & {
  /** The letter in which the process before died, as `1 alice`; '' in none. */
  died?: string | null
}

class Store extends MailMemory {
  /** How many commits more are refused. */
  refusals = 0
  override readonly interrupted: string | null

  constructor(content: MailContent, name: string, died: string | null) {
    super(content, name)
    this.interrupted = died
  }

  override commit(...[changes, done]: Parameters<MailMemory['commit']>): void {
    if (this.refusals === 0 || changes.length === 0) return super.commit(changes, done)
    this.refusals--
    done(new HoldfastError('store', 'planted'))
  }
}

/** See above. */
export class Bench {
  readonly clock = new Clock()
  /** What no listener was there for. */
  readonly reported: string[] = []
  readonly warned: string[] = []
  readonly #contents = new Map<string, MailContent>()
  readonly #stores = new Map<string, Store>()
  readonly #boxes = new Map<string, Mailbox>()

  /** The next process of that mailbox, on what its store has. */
  async open(id: string, { died = null, ...options }: Wish = {}): Promise<Mailbox> {
    const content = this.#contents.get(id) ?? emptyContent()
    this.#contents.set(id, content)
    const store = new Store(content, id, died)
    this.#stores.set(id, store)
    const place = {
      loop: this.clock.loop,
      connect: () => null!,
      curves: () => toyCurves,
      report: (error: unknown, where: string) => {
        this.reported.push(`${where}: ${String(error)}`)
      },
      warn: (sentence: string) => void this.warned.push(sentence),
      date: () => DATE + this.clock.now,
      open: () => Promise.resolve(store),
      listen: null,
    }
    const box = await openIn(place, { id, store: id, ...options })
    this.#boxes.set(id, box)
    return box
  }

  /** The mailbox of that id, as it was opened last. */
  box(id: string): Mailbox {
    return this.#boxes.get(id)!
  }

  /** Its store refuses so many commits. */
  refuse(id: string, times: number): void {
    this.#stores.get(id)!.refusals = times
  }

  /** As a process that is killed leaves it: its store is as it was at that moment. */
  kill(id: string): void {
    this.#contents.set(id, structuredClone(this.#contents.get(id)!))
    this.cut()
    this.#boxes.delete(id)
  }

  /** Both ends of all connections are gone. */
  cut(): void {
    for (const end of this.#ends.splice(0)) end()
  }

  readonly #ends: (() => void)[] = []

  /** The way to a mailbox, whichever process it is at then. */
  wayTo(id: string): Way {
    return (events) => {
      let isOpen = true
      const soon = (run: () => void): void => queueMicrotask(() => isOpen && run())
      const end = (closed: () => void): void => {
        soon(() => {
          isOpen = false
          closed()
        })
      }
      const stream = (to: () => typeof events): Stream => ({
        send: (bytes) => {
          soon(() => to().message(bytes.slice()))
          return isOpen
        },
        backlog: () => 0,
        close: () => end(() => to().closed('the other side closed it')),
      })
      const there = this.#boxes.get(id)?.accept(stream(() => events))
      if (!there) {
        end(() => events.closed('nobody is there'))
        return stream(() => events)
      }
      this.#ends.push(() => {
        if (!isOpen) return
        isOpen = false
        events.closed('it was cut')
        there.closed('it was cut')
      })
      soon(() => events.opened())
      return stream(() => there)
    }
  }

  /** Two that are connected, after their first moments. */
  async pair(bobs: Partial<MailboxOptions> = {}): Promise<{ alice: Mailbox; bob: Mailbox }> {
    const bob = await this.open('bob', bobs)
    const alice = await this.open('alice')
    alice.connect('bob', this.wayTo('bob'))
    await this.pass(100)
    return { alice, bob }
  }

  /** What somebody waits for: a turn or two. */
  async of<Value>(asked: Promise<Value>): Promise<Value> {
    asked.catch(() => {})
    await this.pass(10)
    return asked
  }

  /** Time goes on, and all happens that is due. */
  async pass(ms: number): Promise<void> {
    await this.clock.to(this.clock.now + ms)
  }
}
