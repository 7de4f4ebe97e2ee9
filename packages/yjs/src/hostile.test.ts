// Goal: what a hostile member or server sends costs nobody else anything: all documents are equal,
// and nobody throws.
// Method: whole sessions in virtual time; a part that pretends to be a document sends any bytes.
import * as Y from 'yjs'
import { describe, expect, test } from 'vitest'
import type { InternalSession as Session } from '../../holdfast/src/join/session-impl.ts'
import { definePart, type PartHost } from '../../holdfast/src/part.ts'
import { encode } from '../../holdfast/src/wire/layout.ts'
import { type SessionWorld, world } from '../../sim/src/session-world.ts'
import { yDoc, type SharedDocument } from './index.ts'
import { messageLayout } from './awareness.ts'
import { apply, create, operationLayout, perform, restore, snapshot } from './state.ts'

const Notes = yDoc('notes')
const office = { game: 'office', types: [Notes] }

// The same to whoever compares types; but its author sends what they like.
const pretend = definePart({
  channel: 255,
  most: 64,
  text: () => 'yjs 13 500000',
  keptText: () => 'yjs 13',
  create: () => ({ nonsense: true }),
  perform: (_, operation) => ({ changes: [operation] }),
  apply: () => {},
  snapshot: () => Uint8Array.of(255, 1, 2, 3),
  restore: () => ({ nonsense: true }),
  face: (host: PartHost<object>) => host,
})('notes')

const textOf = ({ doc }: SharedDocument): Y.Text => doc.getText('text')
const read = (one: SharedDocument): string => textOf(one).toJSON()

async function settle(w: SessionWorld, notes: readonly SharedDocument[]): Promise<void> {
  expect(await w.runUntil(() => notes.every(({ status }) => status === 'saved'), 60_000)).toBe(true)
  await w.run(1_000)
}

async function answer(
  w: SessionWorld,
  asked: ReturnType<PartHost<object>['ask']>,
): Promise<string> {
  let said: string | null = null
  void asked.then((outcome) => (said = outcome.ok ? 'ok' : outcome.reason))
  await w.runUntil(() => said !== null, 60_000)
  return said!
}

async function withMallory(seed: number) {
  const w = world({ seed, conditions: 'rtt=40' })
  const all: Session[] = [await w.join({ ...office, name: 'Ada' }), await w.join(office)]
  const notes = all.map((session) => session.part(Notes))
  textOf(notes[0]!).insert(0, 'text')
  await settle(w, notes)
  const stranger = await w.join({ ...office, name: 'Mallory', types: [pretend] })
  const mallory = stranger.part(pretend)
  const ask = (piece: number, of: number, bytes: Uint8Array): Promise<string> => {
    return answer(w, mallory.ask(encode(operationLayout, { piece, of, bytes })))
  }
  return { w, all, notes, mallory, ask }
}

function updateOf(id: number, text: string): Uint8Array {
  const doc = new Y.Doc()
  doc.clientID = id
  doc.getText('text').insert(0, text)
  return Y.encodeStateAsUpdate(doc)
}

describe('a hostile member', () => {
  test('is refused what is no update, and counted; what is one is an edit like others', async () => {
    const { w, all, notes, mallory, ask } = await withMallory(1)
    expect(await answer(w, mallory.ask(Uint8Array.of(1, 2, 3)))).toContain('no piece of an update')
    const why = 'an update of the document "notes" is refused: '
    expect(await ask(5, 2, Uint8Array.of(1))).toBe(`${why}the bytes are no piece of an update`)
    expect(await ask(1, 2, Uint8Array.of(1))).toBe(`${why}a piece is missing before this one`)
    expect(await ask(0, 1, Uint8Array.of(9, 9, 9))).toBe(`${why}it is no update of Yjs`)
    expect(await ask(0, 65_535, Uint8Array.of(1))).toMatch(
      'has at most 500000 bytes: it would have',
    )
    const later = new Y.Doc()
    later.getText('text').insert(0, 'a')
    const state = Y.encodeStateVector(later)
    later.getText('text').insert(1, 'b')
    expect(await ask(0, 1, Y.encodeStateAsUpdate(later, state))).toContain('not in the document')
    for (const part of [2, 3, 4]) expect(await ask(0, part, new Uint8Array(16_000))).toBe('ok')
    expect(await ask(1, 4, updateOf(5, 'x'))).toBe('ok')
    expect(notes.map(read)).toEqual(['text', 'text'])
    expect(await ask(0, 1, updateOf(5, 'sound '))).toBe('ok')
    await settle(w, notes)
    expect(notes.map(read)).toEqual([read(notes[0]!), read(notes[0]!)])
    expect(read(notes[0]!)).toContain('sound')
    const { refused } = (all[0]!.member!.mounts[0]!.state as { counters: { refused: number } })
      .counters
    expect(refused).toBe(6)
    expect([all.map(({ status }) => status), w.reported]).toEqual([['live', 'live'], []])
  })

  test('writes nothing in the name of a client of another who is here', async () => {
    const { w, notes, ask } = await withMallory(2)
    const { clientID } = notes[0]!.doc
    const forged = new Y.Doc()
    Y.applyUpdate(forged, Y.encodeStateAsUpdate(notes[0]!.doc))
    forged.clientID = clientID
    forged.getText('text').insert(4, ' of another')
    const why = `client ${clientID} is of player 1, who is here`
    expect(await ask(0, 1, Y.encodeStateAsUpdate(forged))).toBe(
      `an update of the document "notes" is refused: ${why}`,
    )
    textOf(notes[0]!).insert(4, ' of Ada')
    await settle(w, notes)
    expect(notes.map(read)).toEqual(['text of Ada', 'text of Ada'])
  })

  test('writes as so many clients, and shuts nobody out', () => {
    const limits = { name: 'notes', bytes: 500_000 }
    const state = create()
    const edit = (player: number, update: Uint8Array): void => {
      const by = { player, inc: player, now: 0, isHere: () => true }
      const operation = encode(operationLayout, { piece: 0, of: 1, bytes: update })
      const { changes = [] } = perform(state, operation, by, limits)
      for (const change of changes) apply(state, change, limits)
    }
    const of = (from: number, count: number): Uint8Array => {
      const updates = Array.from({ length: count }, (_, i) => {
        const doc = new Y.Doc()
        doc.clientID = from + i
        doc.getMap('m').set(`${from + i}`, 1)
        return Y.encodeStateAsUpdate(doc)
      })
      return Y.mergeUpdates(updates)
    }
    for (let from = 0; from < 4_096; from += 512) edit(2, of(from, 512))
    expect(() => edit(2, of(5_000, 1))).toThrow('player 2 has 4096 clients at most: 4097')
    edit(2, updateOf(17, 'known'))
    // Those that wrote last have owners.
    for (let id = 10_000; state.owners.size < 16_384; id++) state.owners.set(id, 3)
    const [oldest] = state.owners.keys()
    edit(1, updateOf(99_999, 'mine'))
    expect(state.owners.size).toBe(16_384)
    expect([oldest!, 17, 99_999].map((client) => state.owners.get(client))).toEqual([
      undefined,
      2,
      1,
    ])
    expect(restore(snapshot(state))!.owners).toEqual(state.owners)
  })

  test('says nothing of cursors that are not its own, and no nonsense', async () => {
    const { w, notes, mallory } = await withMallory(3)
    for (const [i, { awareness }] of notes.entries()) awareness.setLocalStateField('name', `P${i}`)
    await w.run(500)
    const { clientID } = notes[1]!.doc
    const bytes = [[], [1, 2, 3], [clientID & 127, 1, 1, 1, 123], [200, 255, 255]]
    for (const one of bytes) mallory.send('all', Uint8Array.from(one))
    const say = (client: number, clock: number, state: object): void => {
      mallory.send('all', encode(messageLayout, { client, clock, state: JSON.stringify(state) }))
    }
    say(clientID, 99, { name: 'forged' })
    for (const odd of [[], 5, 'text', null]) say(7, 1, odd as object)
    say(8, 5, { name: 'newer' })
    say(8, 4, { name: 'older' })
    await w.run(500)
    const [one] = notes
    const names = [...one!.awareness.getStates().values()].map(({ name }) => name)
    expect(names).toEqual(['P0', 'P1', 'newer'])
    // And has one client at a time.
    say(9, 1, { name: 'other' })
    await w.run(500)
    expect([...one!.awareness.getStates().keys()]).not.toContain(8)
    expect(one!.awareness.getStates().get(9)).toEqual({ name: 'other' })
    expect(w.reported).toEqual([])
  })
})

test('a hostile server changes no document, and its members go on', async () => {
  const w = world({ seed: 4, conditions: 'rtt=40' })
  const server = await w.join({ ...office, name: 'Mallory', types: [pretend] })
  const member = await w.join(office)
  const note = member.part(Notes)
  textOf(note).insert(0, 'mine')
  await w.run(2_000)
  const forged = server.part(pretend)
  for (const bytes of [[], [1, 2], [1, 0, 0, 1, 0, 3, 9, 9, 9], new Uint8Array(9_000).fill(7)]) {
    await answer(w, forged.ask(Uint8Array.from(bytes)))
  }
  await w.run(1_000)
  expect([member.status, read(note), w.reported]).toEqual(['live', 'mine', []])
})
