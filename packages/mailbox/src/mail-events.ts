/** What a mailbox tells: its listeners, or the platform of what nobody may miss. */

import { HoldfastError } from '../../holdfast/src/machine.ts'
import type { MailEvent } from './machine/mailbox.ts'
import type { Loop } from '../../holdfast/src/ports.ts'
import type { BlockedQueue, TurnEvent } from './runtime/draft.ts'
import { MAILBOX_EVENTS, type MailboxEvents } from './runtime/options.ts'
import { Reports } from '../../holdfast/src/api/reports.ts'
import { toHex } from '../../holdfast/src/wire/bytes.ts'
import { plain } from '../../holdfast/src/wire/text/plain.ts'
import { Listeners } from '../../holdfast/src/api/emitter.ts'

/** Peers of which the process warns that they never were seen: the rest goes to `unseen` alone. */
const UNSEEN_SAID_MAX = 20

/** Who is told where nobody listens. */
export interface MailReports {
  readonly loop: Loop
  warn?: (sentence: string) => void
  report?: (error: unknown, where: string) => void
}

/** See the head of this file. */
export class MailEvents {
  readonly events: Listeners<MailboxEvents>
  readonly #id: string
  readonly #place: MailReports
  /** Peers of which it was told that they never were seen. */
  readonly #unseen = new Set<string>()

  constructor(id: string, place: MailReports) {
    this.#id = id
    this.#place = place
    this.events = this.#open()
  }

  #open(): Listeners<MailboxEvents> {
    const { loop, report } = this.#place
    const reports = new Reports({
      soon: (run) => loop.soon(run),
      notify: (reported) => {
        const hears = events.hasListeners('error')
        if (hears) events.emit('error', reported)
        return hears
      },
      reportUncaught: ({ error, where }) => report?.(error, where),
    })
    const events = new Listeners<MailboxEvents>('a mailbox', MAILBOX_EVENTS, reports)
    return events
  }

  /** @param waiting  letters to that peer that wait for an ack */
  tell(event: Exclude<TurnEvent, MailEvent & { kind: 'gap' }>, waiting: number): void {
    const { peer } = event
    switch (event.kind) {
      case 'acked':
        return this.events.emit('acked', { peer, n: event.n, waiting })
      case 'unseen':
        return this.#unseenPeer(peer)
      case 'stopped':
        return this.#stopped(event)
      case 'key':
        return this.events.emit('key', { peer, key: toHex(event.key) })
      default: {
        const { kind, ...said } = event
        return this.events.emit(kind, said as never)
      }
    }
  }

  /** Once for each: whoever is named wrongly never comes. */
  #unseenPeer(peer: string): void {
    if (this.#unseen.has(peer)) return
    this.#unseen.add(peer)
    if (this.events.hasListeners('unseen')) return this.events.emit('unseen', { peer })
    if (this.#unseen.size > UNSEEN_SAID_MAX) return
    this.#place.warn?.(
      `${plain(this.#id)} posted a letter to ${plain(peer)}, which it never met and does not ` +
        'dial: it waits until a mailbox of that id comes, or is given in peers',
    )
  }

  /** Letters that wait because of a bad program are not to go unnoticed. */
  #stopped({ peer, n, why, tries, ms }: BlockedQueue): void {
    if (this.events.hasListeners('stopped')) {
      return this.events.emit('stopped', { peer, n, why, tries, ms })
    }
    const next = ms === null ? 'until it has another handler' : `for ${Math.ceil(ms / 1000)} s`
    this.#place.report?.(
      new HoldfastError('failed', `${why}; letters of ${peer} wait behind it, ${next}`),
      `${this.#id}'s handler of letters, with letter ${n} of ${peer} (attempt ${tries}),`,
    )
  }
}
