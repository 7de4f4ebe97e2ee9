// Goal: a document follows whatever committed state it is given, and sends what that lacks.
// Method: the face alone, with a host of which the test is the server.
import * as Y from 'yjs'
import { describe, expect, test } from 'vitest'
import { Listeners, type Stop, stopping } from '../../holdfast/src/api/emitter.ts'
import { Reports } from '../../holdfast/src/api/reports.ts'
import { HoldfastError } from '../../holdfast/src/machine.ts'
import type { OperationOutcome, PartEvents, PartHost } from '../../holdfast/src/part.ts'
import { DocumentApi } from './shared.ts'
import { apply, create, type DocumentState, perform } from './state.ts'

const limits = { name: 'notes', bytes: 100_000 }

const me = { player: 1, inc: 1, name: '', kind: 'node', watches: false } as const
const reports = new Reports({
  soon: (run) => run(),
  notify: () => false,
  reportUncaught: ({ error }) => {
    throw error
  },
})

class Server implements PartHost<DocumentState> {
  committed = create()
  state = create()
  readonly me = me
  readonly members = [me]
  readonly primary = me
  /** The sizes of the operations that came. */
  readonly asked: number[] = []
  answer: OperationOutcome | HoldfastError | null = null
  readonly #events = new Listeners<PartEvents>('a part', ['changed', 'members', 'end'], reports)
  #timers: (() => void)[] = []

  now(): number {
    return 0
  }

  after(_ms: number, run: () => void): Stop {
    this.#timers.push(run)
    return stopping(() => {})
  }

  send(): void {}

  readonly on: PartHost<DocumentState>['on'] = (...given) => this.#events.on(...given)

  events<Events>(...names: (keyof Events & string)[]): Listeners<Events> {
    return new Listeners(names[0]!, names, reports)
  }

  end(): void {
    this.#events.emit('end', { code: 'left', reason: 'left' })
  }

  async ask(operation: Uint8Array): Promise<OperationOutcome> {
    this.asked.push(operation.length)
    if (this.answer instanceof HoldfastError) throw this.answer
    if (this.answer) return this.answer
    const by = { player: 1, inc: 1, now: 0, isHere: () => true }
    const { changes = [] } = perform(this.committed, operation, by, limits)
    for (const change of changes) {
      for (const copy of [this.committed, this.state]) apply(copy, change, limits)
    }
    if (changes.length > 0) this.#events.emit('changed', undefined)
    return { ok: true, value: new Uint8Array(0) }
  }

  /** Lets promises settle, and timers that are due. */
  async pass(): Promise<void> {
    for (let i = 0; i < 50; i++) await Promise.resolve()
    for (const run of this.#timers.splice(0)) run()
    for (let i = 0; i < 50; i++) await Promise.resolve()
  }

  /** Another committed state, as after a recovery or in another session. */
  replace(by: DocumentState, committed: DocumentState): void {
    this.state = by
    this.committed = committed
    this.#events.emit('changed', undefined)
  }
}

async function opened(): Promise<{ server: Server; face: DocumentApi; text: Y.Text }> {
  const server = new Server()
  const face = new DocumentApi(server, limits)
  const text = face.doc.getText('text')
  await server.pass()
  return { server, face, text }
}

const read = ({ doc }: DocumentState): string => doc.getText('text').toJSON()

describe('a document', () => {
  test('gives a state that lacks something what it has, and takes what that has', async () => {
    const { server, face, text } = await opened()
    text.insert(0, 'mine')
    await server.pass()
    expect([read(server.committed), face.status]).toEqual(['mine', 'saved'])
    const [fresh, committed] = [create(), create()]
    const other = new Y.Doc()
    other.getText('text').insert(0, 'theirs')
    for (const { doc } of [fresh, committed]) Y.applyUpdate(doc, Y.encodeStateAsUpdate(other))
    server.replace(fresh, committed)
    await server.pass()
    expect([read(server.committed).length, read(server.committed)]).toEqual([10, text.toJSON()])
    expect(face.status).toBe('saved')
  })

  test('makes an operation again whose fate is unknown', async () => {
    const { server, face, text } = await opened()
    server.answer = { ok: false, code: 'lost', reason: 'nobody knows' }
    text.insert(0, 'mine')
    server.asked.length = 0
    await Promise.resolve()
    server.answer = null
    await server.pass()
    expect([server.asked.length > 1, read(server.committed), face.status]).toEqual([
      true,
      'mine',
      'saved',
    ])
  })

  test('waits while too many operations are under way', async () => {
    const { server, face, text } = await opened()
    server.answer = new HoldfastError('overloaded', 'too many')
    text.insert(0, 'mine')
    await server.pass()
    expect([face.status, read(server.committed)]).toEqual(['saving', ''])
    server.answer = null
    await server.pass()
    await server.pass()
    expect([face.status, read(server.committed)]).toEqual(['saved', 'mine'])
  })

  test('asks for nothing once the session ended, and keeps what is typed', async () => {
    const { server, face, text } = await opened()
    server.end()
    const { length } = server.asked
    text.insert(0, 'offline')
    await server.pass()
    expect([server.asked.length, face.status, text.toJSON()]).toEqual([length, 'ended', 'offline'])
    expect(() => face.bind(new Y.Doc())).toThrow('the document "notes" ended')
  })
})
