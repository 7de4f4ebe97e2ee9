/** A kept room at a hub by hand, and who writes and opens it. */

import { BACK_MS } from '../../packages/hub/src/machine/persistence.ts'
import type { FromHub, ToHub } from '../../packages/holdfast/src/hub-protocol/messages.ts'
import { Desk, keyOf, listed, OPEN } from './desk.ts'

type Keep = ToHub & { kind: 'keep' }

/** A room that is kept for ten minutes, whose founder is attached. */
export class Kept {
  readonly desk: Desk
  readonly room: string
  founder = 0
  id = ''

  /** @param at  the hub, or its limits  @param address  whence its founder comes */
  constructor(
    at: ConstructorParameters<typeof Desk>[0] | Desk = {},
    room = 'main',
    address?: string,
  ) {
    this.room = room
    this.desk = at instanceof Desk ? at : new Desk(at)
    this.founder = this.desk.open(address)
    this.id = this.added(this.ask(this.founder))!.entry.session
    this.desk.attach(this.founder, this.id, 1)
  }

  ask(stream: number, id = 1, more: Partial<ToHub & { kind: 'add' }> = {}): FromHub[] {
    const { hash, link } = listed(id)
    const place = { game: 'g', room: this.room, playersMax: 4, recovers: true, topology: 'star' }
    const wish = { ...place, terms: 'keep=10', hash, link, ...OPEN, key: keyOf(id), ...more }
    return this.desk.say(stream, { kind: 'add', request: 1, ...wish } as ToHub)
  }

  added(said: FromHub[]): (FromHub & { kind: 'added' }) | undefined {
    return said.find((one): one is FromHub & { kind: 'added' } => one.kind === 'added')
  }

  keep(text: string, index: number, more: Partial<Keep> = {}, stream = this.founder): FromHub[] {
    const said = {
      number: index,
      from: index === 1 ? null : index - 1,
      index,
      time: 5_000,
      next: 2,
      acks: 'strict' as const,
    }
    const bytes = new TextEncoder().encode(text)
    const piece = { piece: 0, of: 1, bytes }
    return this.desk.say(stream, { kind: 'keep', session: this.id, ...said, ...piece, ...more })
  }

  /** The founder's stream is gone, and that for long enough. */
  leaves(): void {
    this.desk.close(this.founder)
    this.desk.go(BACK_MS + 1)
  }

  /** Somebody opens it. @returns what it heard of the opening, and the text of the segments */
  opens(id = 2): { heard: FromHub[]; opened: unknown; text: string; stream: number } {
    const stream = this.desk.open()
    const heard = this.ask(stream, id)
    const segments = heard.flatMap((one) => (one.kind === 'segment' ? [...one.bytes] : []))
    const text = new TextDecoder().decode(Uint8Array.from(segments))
    return { heard, opened: this.added(heard)?.opened ?? null, text, stream }
  }
}
