// Goal: nobody's edits are lost for those of another who writes under the same client id, without
// the document saying so; and all bring back their own after a recovery from an older copy.
// Method: whole sessions in virtual time; Mallory sets the client id of others.
import * as Y from 'yjs'
import { describe, expect, test } from 'vitest'
import type { InternalSession as Session } from '../../holdfast/src/join/session-impl.ts'
import { type SessionWorld, world } from '../../sim/src/session-world.ts'
import { conflictOf } from './compare.ts'
import { yDoc, type SharedDocument } from './index.ts'

const Notes = yDoc('notes')
const office = { game: 'office', types: [Notes] }

interface Room {
  w: SessionWorld
  all: Session[]
  notes: SharedDocument[]
}

async function room(seed: number, count: number, conditions = 'rtt=40'): Promise<Room> {
  const w = world({ seed, conditions })
  const all: Session[] = []
  for (let i = 0; i < count; i++) all.push(await w.join({ ...office, keepRoom: false }))
  await w.runUntil(() => all.every(({ safety }) => safety === 'backed-up'), 10_000)
  const notes = all.map((session) => session.part(Notes))
  for (const { doc } of notes) void doc
  return { w, all, notes }
}

const textOf = ({ doc }: SharedDocument): Y.Text => doc.getText('text')
const read = (one: SharedDocument): string => textOf(one).toJSON()

async function settle(w: SessionWorld, notes: readonly SharedDocument[]): Promise<void> {
  expect(await w.runUntil(() => notes.every(({ status }) => status === 'saved'), 60_000)).toBe(true)
  await w.run(1_000)
}

/** Cuts some off from all others. @returns what ends it */
function cut({ w, all }: Room, some: readonly Session[]): () => void {
  const names = some.map((one) => w.nodeOf(one))
  const nodes = [...all.map((one) => w.nodeOf(one)), 'hub']
  return w.partition([names, nodes.filter((node) => !names.includes(node))])
}

describe('a client id that another player uses', () => {
  test('while its owner is away: the owner hears that its edits are not saved', async () => {
    const r = await room(21, 4)
    const { w, all, notes } = r
    const [, , bob, mallory] = notes as [
      SharedDocument,
      SharedDocument,
      SharedDocument,
      SharedDocument,
    ]
    textOf(bob).insert(0, 'B')
    await settle(w, notes)
    const heal = cut(r, [all[2]!])
    textOf(bob).insert(1, 'ob was offline')
    expect(await w.runUntil(() => all[0]!.members.length === 3, 120_000)).toBe(true)
    const { clientID } = bob.doc
    mallory.doc.clientID = clientID
    textOf(mallory).insert(1, 'etter than this')
    await w.run(3_000)
    heal()
    await w.run(60_000)
    expect(read(notes[0]!)).toBe('Better than this')
    expect([bob.status, bob.error?.code]).toEqual(['refused', 'forbidden'])
    expect(bob.error!.message).toContain(`another player used its client ${clientID}:`)
    expect([mallory.status, w.reported]).toEqual(['saved', []])
  })

  test('before its owner writes: both are saved, and the cursor goes with the new id', async () => {
    const { w, notes } = await room(8, 3)
    const [ada, bob, mallory] = notes as [SharedDocument, SharedDocument, SharedDocument]
    await settle(w, notes)
    bob.awareness.setLocalStateField('user', { name: 'Bob' })
    for (const { awareness } of [ada, mallory]) void awareness
    await w.run(500)
    const before = bob.doc.clientID
    mallory.doc.clientID = before
    textOf(mallory).insert(0, 'M')
    await w.run(2_000)
    textOf(bob).insert(0, 'b')
    await settle(w, notes)
    expect(notes.map(read)).toEqual(['bM', 'bM', 'bM'])
    expect(bob.doc.clientID).not.toBe(before)
    const { awareness } = bob
    expect(awareness.getLocalState()).toEqual({ user: { name: 'Bob' } })
    for (const each of [ada, bob]) {
      const states = each.awareness.getStates()
      expect(states.get(bob.doc.clientID)).toEqual({ user: { name: 'Bob' } })
      expect([...states.values()].filter(({ user }) => user !== undefined)).toHaveLength(1)
    }
  })

  test('at the same moment: one of the two hears that it is not saved', async () => {
    const { w, notes } = await room(7, 3)
    const [ada, bob, mallory] = notes as [SharedDocument, SharedDocument, SharedDocument]
    textOf(ada).insert(0, 'x')
    await settle(w, notes)
    mallory.doc.clientID = bob.doc.clientID
    textOf(mallory).insert(0, 'M')
    textOf(bob).insert(0, 'b')
    await w.run(20_000)
    const differ = [bob, mallory].filter((one) => read(one) !== read(ada))
    expect(differ).toHaveLength(1)
    expect(differ[0]!.status).toBe('refused')
  })

  test('is compared by what it wrote, not by how Yjs splits or deletes it', () => {
    const [one, other, forged] = [new Y.Doc(), new Y.Doc(), new Y.Doc()]
    for (const doc of [one, forged]) doc.clientID = 1
    const text = one.getText('t')
    text.insert(0, 'ab😀cd')
    one.getMap('m').set('date', { at: new Date(0), big: 5n, none: undefined })
    Y.applyUpdate(other, Y.encodeStateAsUpdate(one))
    other.getText('t').insert(3, 'in the middle of a character')
    text.format(0, 2, { bold: true })
    text.delete(1, 1)
    expect(conflictOf(one, other)).toBeNull()
    forged.getText('t').insert(0, 'xb')
    expect(conflictOf(one, forged)).toBe(1)
  })
})

describe('after a recovery to an older copy', () => {
  test.each([18, 100, 101, 102, 103])(
    'two who wrote on the text of each other bring back all: seed %i',
    async (seed) => {
      const r = await room(seed, 5)
      const { w, all, notes } = r
      const [, , behind, ...writers] = all as [Session, Session, Session, Session, Session]
      textOf(notes[3]!).insert(0, 'c ')
      textOf(notes[4]!).insert(0, 'd ')
      await settle(w, notes)
      const heal = cut(r, [behind])
      for (let i = 0; i < 3; i++) {
        for (const note of notes.slice(3)) {
          textOf(note).insert(read(note).length, `${i}`)
          await w.run(200)
        }
      }
      const before = read(notes[3]!)
      expect(read(notes[4]!)).toBe(before)
      const healWriters = cut(r, writers)
      heal()
      w.kill(all[0]!)
      w.kill(all[1]!)
      expect(await w.runUntil(() => behind.primary?.inc === behind.me.inc, 60_000)).toBe(true)
      healWriters()
      await w.runUntil(() => notes[2]!.doc.getText('text').toJSON() === before, 60_000)
      textOf(notes[3]!).insert(0, 'on ')
      textOf(notes[4]!).insert(0, 'and ')
      await settle(w, notes.slice(2))
      expect(new Set(notes.slice(2).map(read)).size).toBe(1)
      expect(read(notes[2]!)).toHaveLength(before.length + 7)
      expect(w.reported).toEqual([])
    },
  )
})

test('a document that follows a destroyed one keeps its cursor with the others', async () => {
  const { w, notes } = await room(9, 2)
  const [ada, bob] = notes as [SharedDocument, SharedDocument]
  await settle(w, notes)
  void ada.awareness
  bob.awareness.setLocalStateField('user', { name: 'Bob' })
  await w.run(500)
  bob.awareness.setLocalStateField('cursor', 1)
  await w.run(1)
  bob.doc.destroy()
  bob.awareness.setLocalStateField('user', { name: 'Bob again' })
  await w.run(2_000)
  expect(ada.awareness.getStates().get(bob.doc.clientID)).toEqual({ user: { name: 'Bob again' } })
  expect(ada.awareness.getStates().size).toBe(2)
})
