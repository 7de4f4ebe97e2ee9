/** Emits the events of a mailbox. Without a listener the important ones go to the platform. */

import { HoldfastError } from '../../holdfast/src/machine.ts'
import type { MailEvent } from './machine/mailbox.ts'
import type { Loop } from '../../holdfast/src/ports.ts'
import type { BlockedQueue, TurnEvent } from './runtime/draft.ts'
import { MAILBOX_EVENTS, type MailboxEvents } from './runtime/options.ts'
import { Reports } from '../../holdfast/src/api/reports.ts'
import { toHex } from '../../holdfast/src/wire/bytes.ts'
import { plain } from '../../holdfast/src/wire/text/plain.ts'
import { Listeners } from '../../holdfast/src/api/emitter.ts'

/** Most unseen peers that the process warns about; `unseen` still reports the rest. */
const UNSEEN_WARNED_MAX = 20

/** Where events go that have no listener. */
export interface MailReports {
  /** Timers, randomness and a monotonic clock. */
  loop: Loop
  /** Warns, in one sentence, about allowed but probably unintended use. */
  warn?: (sentence: string) => void
  /** Reports errors thrown by application functions that have no listener, and where. */
  report?: (error: unknown, where: string) => void
}

export class MailEvents {
  readonly events: Listeners<MailboxEvents>
  readonly #id: string
  readonly #place: MailReports
  readonly #unseen = new Set<string>()

  constructor(id: string, place: MailReports) {
    this.#id = id
    this.#place = place
    const reports = new Reports({
      soon: (run) => place.loop.soon(run),
      notify: (reported) => {
        const isHandled = this.events.hasListeners('error')
        if (isHandled) this.events.emit('error', reported)
        return isHandled
      },
      reportUncaught: ({ error, where }) => place.report?.(error, where),
    })
    this.events = new Listeners<MailboxEvents>('a mailbox', MAILBOX_EVENTS, reports)
  }

  /** @param waiting  unacked letters to that peer */
  report(event: Exclude<TurnEvent, MailEvent & { kind: 'gap' }>, waiting: number): void {
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
        const { kind, ...value } = event
        return this.events.emit(kind, value as never)
      }
    }
  }

  /** Reports each peer once: a misspelled peer never comes. */
  #unseenPeer(peer: string): void {
    if (this.#unseen.has(peer)) return
    this.#unseen.add(peer)
    if (this.events.hasListeners('unseen')) return this.events.emit('unseen', { peer })
    if (this.#unseen.size > UNSEEN_WARNED_MAX) return
    this.#place.warn?.(
      `${plain(this.#id)} posted a letter to ${plain(peer)}, which it never met and does not ` +
        'dial: it waits until a mailbox of that id comes, or is given in peers',
    )
  }

  /** Letters blocked by a failing handler must not go unnoticed. */
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
