// Goal: a document follows whatever committed state it is given, and sends what that lacks.
// Method: the face alone, with a host of which the test is the server.
import * as Y from 'yjs'
import { describe, expect, test } from 'vitest'
import { Listeners, type Stop, stopping } from '../../holdfast/src/api/emitter.ts'
import { Reports } from '../../holdfast/src/api/reports.ts'
import type { MemberInfo } from '../../holdfast/src/kind/kind.ts'
import { HoldfastError } from '../../holdfast/src/machine.ts'
import type { OperationOutcome, PartEvents, PartHost } from '../../holdfast/src/part.ts'
import { encode } from '../../holdfast/src/wire/layout.ts'
import { DocumentApi } from './shared.ts'
import {
  apply,
  create,
  type DocumentState,
  operationLayout,
  perform,
  restore,
  snapshot,
} from './state.ts'

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
  members: MemberInfo[] = [me]
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
    try {
      const { changes = [] } = perform(this.committed, operation, by, limits)
      for (const change of changes) this.commit(change)
    } catch (error) {
      return { ok: false, code: 'refused', reason: (error as Error).message }
    }
    return { ok: true, value: new Uint8Array(0) }
  }

  commit(change: Uint8Array, isSaid = true): void {
    for (const copy of [this.committed, this.state]) apply(copy, change, limits)
    if (isSaid) this.#events.emit('changed', undefined)
  }

  /** Commits updates of player 2, which come together. */
  take(...updates: Uint8Array[]): void {
    const by = { player: 2, inc: 2, now: 0, isHere: () => true }
    for (const update of updates) {
      const operation = encode(operationLayout, { piece: 0, of: 1, bytes: update })
      const { changes = [] } = perform(this.committed, operation, by, limits)
      for (const change of changes) this.commit(change, false)
    }
    this.#events.emit('changed', undefined)
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

  test('brings back its own edits, and leaves to others theirs, on which later ones build', async () => {
    const { server, face, text } = await opened()
    const theirs = new Y.Doc()
    const write = (words: string): void => {
      Y.applyUpdate(theirs, Y.encodeStateAsUpdate(face.doc))
      theirs.getText('text').insert(text.length, words)
      server.take(Y.encodeStateAsUpdate(theirs, Y.encodeStateVector(server.committed.doc)))
    }
    const add = async (words: string): Promise<void> => {
      text.insert(text.length, words)
      await server.pass()
    }
    server.members = [me, { ...me, player: 2, inc: 2 }]
    await add('a')
    write('b')
    const older = snapshot(server.committed)
    await add('c')
    write('d')
    await add('e')
    expect([read(server.committed), face.status]).toEqual(['abcde', 'saved'])
    server.replace(restore(older)!, restore(older)!)
    for (let i = 0; i < 3; i++) await server.pass()
    expect(read(server.committed)).toBe('abc')
    expect(face.status).not.toBe('saved')
    server.take(Y.encodeStateAsUpdate(theirs, Y.encodeStateVector(server.committed.doc)))
    for (let i = 0; i < 6; i++) await server.pass()
    expect([read(server.committed), face.status]).toEqual(['abcde', 'saved'])
  })

  test('takes updates that come together one after the other', async () => {
    const { server, face, text } = await opened()
    const letters = (clock: number, after: string, words: string): Uint8Array => {
      const doc = new Y.Doc()
      doc.clientID = 9
      doc.getText('text').insert(0, after)
      const known = Y.encodeStateVector(doc)
      doc.getText('text').insert(clock, words)
      return Y.encodeStateAsUpdate(doc, known)
    }
    server.take(letters(0, '', '01234'))
    server.take(letters(5, '01234', 'A'), letters(3, '012', 'wxBC'))
    expect([read(server.committed), text.toJSON()]).toEqual(['01234AC', '01234AC'])
    await server.pass()
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
