// Goal: a document is the same for all who edit it, and has every edit that was acknowledged,
// whatever dies; what is hostile changes nothing.
// Method: whole sessions in virtual time with the doors that anybody has.
import * as Y from 'yjs'
import { describe, expect, test } from 'vitest'
import type { InternalSession as Session } from '../../holdfast/src/join/session-impl.ts'
import { type SessionWorld, world } from '../../sim/src/session-world.ts'
import { yDoc, type SharedDocument } from './index.ts'

const Notes = yDoc('notes')
const office = { game: 'office', types: [Notes] }

interface Room {
  w: SessionWorld
  all: Session[]
  notes: SharedDocument[]
}

async function room(seed: number, count: number, conditions = 'rtt=40,loss=3%'): Promise<Room> {
  const w = world({ seed, conditions })
  const all: Session[] = []
  for (let i = 0; i < count; i++) all.push(await w.join({ ...office, name: `P${i}` }))
  await w.runUntil(() => all.every(({ safety }) => safety === 'backed-up'), 10_000)
  return { w, all, notes: all.map((session) => session.part(Notes)) }
}

const textOf = ({ doc }: SharedDocument): Y.Text => doc.getText('text')
const read = (one: SharedDocument): string => textOf(one).toJSON()
const saved = (all: readonly SharedDocument[]) => () =>
  all.every(({ status }) => status === 'saved')

/** Waits until everything was acknowledged, and a little longer for the others to get it. */
async function settle(w: SessionWorld, notes: readonly SharedDocument[]): Promise<void> {
  expect(await w.runUntil(saved(notes), 60_000)).toBe(true)
  await w.run(1_000)
}

const same = (all: readonly SharedDocument[]): void => {
  expect(new Set(all.map(read)).size).toBe(1)
}

describe('a document', () => {
  test('has what its members write, and who comes later has it too', async () => {
    const { w, all, notes } = await room(1, 2)
    const [one, two] = notes as [SharedDocument, SharedDocument]
    expect([one.status, read(two)]).toEqual(['loading', ''])
    await settle(w, notes)
    expect([one.synced, one.status]).toEqual([true, 'saved'])
    textOf(one).insert(0, 'hello')
    expect([read(one), one.status]).toEqual(['hello', 'saving'])
    const { nextSeq } = all[1]!.member!.session.client
    await settle(w, notes)
    // Who only reads asks for nothing.
    expect(all[1]!.member!.session.client.nextSeq).toBe(nextSeq)
    textOf(two).insert(5, ' world')
    await settle(w, notes)
    const late = (await w.join({ ...office, name: 'Late' })).part(Notes)
    expect([read(one), read(two), read(late)]).toEqual(Array(3).fill('hello world'))
    expect(w.reported).toEqual([])
  })

  test('merges what two write at once at one place', async () => {
    const { w, notes } = await room(2, 2)
    for (const [i, one] of notes.entries()) textOf(one).insert(0, i === 0 ? 'aaa' : 'bbb')
    await settle(w, notes)
    same(notes)
    expect(['aaabbb', 'bbbaaa']).toContain(read(notes[0]!))
  })

  test('keeps edits that wait while the server dies, each once', async () => {
    const { w, all, notes } = await room(3, 3)
    await settle(w, notes)
    textOf(notes[1]!).insert(0, 'before ')
    await w.run(10)
    w.kill(all[0]!)
    textOf(notes[2]!).insert(0, 'meanwhile ')
    expect(notes[2]!.status).toBe('saving')
    await settle(w, notes.slice(1))
    same(notes.slice(1))
    expect(read(notes[1]!).split(' ').toSorted()).toEqual(['', 'before', 'meanwhile'])
  })

  test('is brought back by all who have it when server and backup die at once', async () => {
    const { w, all, notes } = await room(4, 4)
    for (const [i, one] of notes.entries()) textOf(one).insert(0, `<${i}>`)
    await settle(w, notes)
    textOf(notes[2]!).insert(0, 'last ')
    w.kill(all[0]!)
    w.kill(all[1]!)
    textOf(notes[3]!).insert(0, 'alone ')
    await settle(w, notes.slice(2))
    same(notes.slice(2))
    for (const word of ['<0>', '<1>', '<2>', '<3>', 'last ', 'alone ']) {
      expect(read(notes[2]!).split(word)).toHaveLength(2)
    }
  })

  test('is there when a room that everybody left is opened again', async () => {
    const { w, all, notes } = await room(5, 2)
    textOf(notes[0]!).insert(0, 'kept')
    await settle(w, notes)
    for (const one of all) void one.leave()
    await w.run(5_000)
    expect(notes.map(({ status }) => status)).toEqual(['ended', 'ended'])
    const again = await w.join({ ...office, name: 'Again' })
    const note = again.part(Notes)
    await settle(w, [note])
    expect(read(note)).toBe('kept')
    textOf(note).insert(4, ' on')
    await settle(w, [note])
    w.kill(again)
    const last = (await w.join({ ...office, name: 'Last' })).part(Notes)
    expect(read(last)).toBe('kept on')
  })

  test('sends an operation for the edits of a turn, and one while another is under way', async () => {
    const { w, all, notes } = await room(6, 2, 'rtt=200')
    await settle(w, notes)
    const { pending, nextSeq } = all[1]!.member!.session.client
    for (const letter of 'a hundred letters') textOf(notes[1]!).insert(0, letter)
    await w.run(1)
    expect(pending).toHaveLength(1)
    for (let i = 0; i < 90; i++) {
      textOf(notes[1]!).insert(0, 'x')
      await w.run(1)
      expect(pending).toHaveLength(1)
    }
    await settle(w, notes)
    expect(all[1]!.member!.session.client.nextSeq - nextSeq).toBeLessThanOrEqual(3)
    same(notes)
  })

  test('gets back from who was cut off what its server lost', async () => {
    const w = world({ seed: 18, conditions: 'rtt=40' })
    const all: Session[] = []
    for (let i = 0; i < 4; i++) all.push(await w.join({ ...office, keepRoom: false }))
    await w.runUntil(() => all.every(({ safety }) => safety === 'backed-up'), 10_000)
    const notes = all.map((session) => session.part(Notes))
    textOf(notes[0]!).insert(0, 'old ')
    await settle(w, notes)
    const nodes = [...all.map((session) => w.nodeOf(session)), 'hub']
    const without = (cut: Session): (() => void) => {
      const name = w.nodeOf(cut)
      return w.partition([[name], nodes.filter((node) => node !== name)])
    }
    const [, , cut, other] = all as [Session, Session, Session, Session]
    const heal = without(cut)
    textOf(notes[3]!).insert(0, 'new ')
    expect(await w.runUntil(() => notes[3]!.status === 'saved', 1_000)).toBe(true)
    const healOther = without(other)
    heal()
    w.kill(all[0]!)
    w.kill(all[1]!)
    expect(await w.runUntil(() => cut.primary?.inc === cut.me.inc, 60_000)).toBe(true)
    expect([read(notes[2]!), read(notes[3]!)]).toEqual(['old ', 'new old '])
    healOther()
    await w.runUntil(() => read(notes[2]!) !== 'old ', 60_000)
    await settle(w, notes.slice(2))
    expect([read(notes[2]!), read(notes[3]!)]).toEqual(['new old ', 'new old '])
  })

  test('reaches who comes while a large update is on its way', async () => {
    const { w, notes } = await room(19, 2, 'rtt=100')
    await settle(w, notes)
    const large = 'lorem ipsum '.repeat(10_000)
    textOf(notes[1]!).insert(0, large)
    await w.run(300)
    const late = (await w.join({ ...office, name: 'Late' })).part(Notes)
    expect([read(late), notes[1]!.status]).toEqual(['', 'saving'])
    await settle(w, notes)
    expect(read(late)).toBe(large)
  })

  test('takes a large update as a whole, though in pieces, over a takeover too', async () => {
    const { w, all, notes } = await room(7, 3, 'rtt=40')
    await settle(w, notes)
    const large = 'lorem ipsum '.repeat(20_000)
    const seen: number[] = []
    notes[1]!.doc.on('update', () => seen.push(read(notes[1]!).length))
    textOf(notes[2]!).insert(0, large)
    await w.run(300)
    w.kill(all[0]!)
    await settle(w, notes.slice(1))
    expect(read(notes[1]!)).toBe(large)
    expect(seen).toEqual([large.length])
    const late = (await w.join({ ...office, name: 'Late' })).part(Notes)
    expect(read(late)).toBe(large)
  })
})

describe('a text with formats', () => {
  test('is the same for all, and Yjs’s own tidying of it comes to an end', async () => {
    const { w, all, notes } = await room(20, 3)
    const watcher = (await w.join({ ...office, watch: true })).part(Notes)
    const everybody = [...notes, watcher]
    for (const one of everybody) textOf(one).observe(() => {})
    textOf(notes[0]!).insert(0, 'some words that are formatted')
    await settle(w, everybody)
    for (let round = 0; round < 30; round++) {
      const text = textOf(notes[round % 3]!)
      text.format(round % 20, 4, { bold: round % 2 === 0 || null, size: round % 3 })
      if (round % 5 === 0) text.insert(3, 'x', { em: true })
      if (round % 7 === 0) text.delete(1, 3)
      await w.run(15)
    }
    await settle(w, everybody)
    const deltas = everybody.map((one) => JSON.stringify(textOf(one).toDelta()))
    expect(new Set(deltas).size).toBe(1)
    const seqs = (): number[] => all.map((one) => one.member!.session.client.nextSeq)
    const before = seqs()
    await w.run(60_000)
    expect([seqs(), w.reported]).toEqual([before, []])
  })
})

describe('a limit', () => {
  const Small = yDoc('small', { bytes: 20_000 })
  const small = { game: 'office', types: [Small, Notes] }

  test('of bytes refuses what is above it by name, limit and value, until less is there', async () => {
    const w = world({ seed: 8, conditions: 'rtt=40' })
    const members = [await w.join(small), await w.join(small)]
    const [one, two] = members.map((session) => session.part(Small)) as [
      SharedDocument,
      SharedDocument,
    ]
    textOf(one).insert(0, 'x'.repeat(15_000))
    await settle(w, [one, two])
    expect(one.size).toEqual({ bytes: expect.closeTo(15_050, -2) as number, most: 20_000 })
    textOf(two).insert(0, 'y'.repeat(6_000))
    await w.runUntil(() => two.status === 'refused', 10_000)
    expect(two.error).toMatchObject({
      code: 'full',
      message: expect.stringMatching(
        /^the document "small" has at most 20000 bytes: it would have 21\d\d\d$/,
      ) as string,
    })
    expect(read(one)).toHaveLength(15_000)
    // It is tried again only once something has changed.
    const { nextSeq } = members[1]!.member!.session.client
    await w.run(60_000)
    expect(members[1]!.member!.session.client.nextSeq).toBe(nextSeq)
    // What is larger than all pieces of the document is not even begun.
    textOf(two).insert(0, 'y'.repeat(60_000))
    await w.run(5_000)
    expect(two.error!.message).toContain('it would have')
    textOf(two).delete(0, 64_000)
    await settle(w, [one, two])
    expect([two.error, read(one)]).toEqual([null, read(two)])
    expect(read(one)).toHaveLength(17_000)
  })

  test('of options is said where the document is defined', () => {
    expect(() => yDoc('x', { bytes: 999 })).toThrow(
      'bytes of the document "x" is 1000 to 2000000: 999',
    )
    expect(() => yDoc('', {})).toThrow('1 to 32 characters')
    expect(() => yDoc('x', { byte: 1 } as never)).toThrow('byte')
  })
})

describe('several documents of a room', () => {
  const Tasks = yDoc('tasks')
  const both = { game: 'office', types: [Tasks, Notes] }

  test('are apart, and a build may add one to a room that was kept', async () => {
    const w = world({ seed: 9, conditions: 'rtt=40' })
    const first = await w.join(office)
    textOf(first.part(Notes)).insert(0, 'notes')
    await settle(w, [first.part(Notes)])
    await leave(w, first)
    const all = [await w.join(both), await w.join(both)]
    textOf(all[1]!.part(Tasks)).insert(0, 'tasks')
    await settle(
      w,
      all.flatMap((one) => [one.part(Notes), one.part(Tasks)]),
    )
    for (const one of all) {
      expect([read(one.part(Notes)), read(one.part(Tasks))]).toEqual(['notes', 'tasks'])
    }
  })

  test('are the same thing however often they are asked for, as a hot update does', async () => {
    const w = world({ seed: 10 })
    const session = await w.join(both)
    expect(session.part(yDoc('notes'))).toBe(session.part(Notes))
    expect(session.part(Notes)).not.toBe(session.part(Tasks))
    expect(() => session.part(yDoc('notes', { bytes: 5_000 }))).toThrow('has changed since')
  })
})

async function leave(w: SessionWorld, session: Session): Promise<void> {
  let left = false
  void session.leave().then(() => (left = true))
  await w.runUntil(() => left, 10_000)
  await w.run(1_000)
}

describe('a Yjs document of the caller', () => {
  test('outlives its session, and takes its edits to the next one', async () => {
    const { w, all, notes } = await room(11, 2)
    const doc = new Y.Doc()
    notes[1]!.bind(doc)
    doc.getText('text').insert(0, 'one')
    await settle(w, notes)
    await leave(w, all[1]!)
    expect(notes[1]!.status).toBe('ended')
    doc.getText('text').insert(3, ' two')
    textOf(notes[0]!).insert(0, 'zero ')
    await settle(w, [notes[0]!])
    expect(doc.isDestroyed).toBe(false)
    const again = (await w.join({ ...office, name: 'Again' })).part(Notes)
    await settle(w, [again])
    again.bind(doc)
    await w.run(10)
    await settle(w, [notes[0]!, again])
    expect([read(notes[0]!), read(again)]).toEqual(['zero one two', 'zero one two'])
  })

  test('is bound before another is used, and may be replaced once it is destroyed', async () => {
    const w = world({ seed: 12 })
    const note = (await w.join(office)).part(Notes)
    expect(() => note.bind({} as never)).toThrow('bind of the document "notes" takes a Y.Doc')
    const { doc } = note
    textOf(note).insert(0, 'kept')
    expect(note.bind(doc)).toBe(note)
    expect(() => note.bind(new Y.Doc())).toThrow('the document "notes" has another Y.Doc')
    await settle(w, [note])
    doc.destroy()
    expect(note.doc).not.toBe(doc)
    expect(read(note)).toBe('kept')
    textOf(note).insert(4, '!')
    await settle(w, [note])
  })

  test('undoes only what its own member did', async () => {
    const { w, notes } = await room(13, 2)
    const undo = new Y.UndoManager(textOf(notes[0]!))
    textOf(notes[0]!).insert(0, 'mine ')
    await settle(w, notes)
    textOf(notes[1]!).insert(5, 'yours ')
    await settle(w, notes)
    undo.undo()
    await settle(w, notes)
    expect(notes.map(read)).toEqual(['yours ', 'yours '])
    undo.redo()
    await settle(w, notes)
    expect(notes.map(read)).toEqual(['mine yours ', 'mine yours '])
  })

  test('of one who watches follows, and its edits are refused', async () => {
    const { w, notes } = await room(14, 2)
    textOf(notes[0]!).insert(0, 'text')
    const watcher = (await w.join({ ...office, watch: true })).part(Notes)
    await settle(w, [...notes, watcher])
    expect([read(watcher), watcher.synced, watcher.error]).toEqual(['text', true, null])
    textOf(watcher).insert(0, 'no ')
    await w.runUntil(() => watcher.status === 'refused', 10_000)
    expect(watcher.error!.code).toBe('watching')
    await w.run(2_000)
    expect(notes.map(read)).toEqual(['text', 'text'])
  })
})

describe('a room', () => {
  test('that has no hub and no server for a while gets what was typed meanwhile', async () => {
    const { w, all, notes } = await room(15, 3, 'rtt=40')
    w.killHub()
    textOf(notes[1]!).insert(0, 'one ')
    await settle(w, notes)
    w.kill(all[0]!)
    const rest = notes.slice(1)
    for (let i = 0; i < 20; i++) {
      for (const one of rest) textOf(one).insert(0, `${i} `)
      await w.run(500)
    }
    expect(rest.map(({ status }) => status)).toContain('saving')
    w.restartHub()
    await settle(w, rest)
    same(rest)
    expect(read(rest[0]!).split(' ')).toHaveLength(42)
  })

  test('that is a mesh has the same text, and cursors', async () => {
    const w = world({ seed: 16, conditions: 'rtt=40,loss=3%' })
    const all: Session[] = []
    for (let i = 0; i < 4; i++) all.push(await w.join({ ...office, topology: 'mesh' }))
    await w.runUntil(() => all.every(({ safety }) => safety === 'backed-up'), 10_000)
    const notes = all.map((session) => session.part(Notes))
    for (const [i, one] of notes.entries()) {
      textOf(one).insert(0, `${i}`)
      one.awareness.setLocalStateField('name', i)
    }
    await settle(w, notes)
    same(notes)
    w.kill(all[0]!)
    textOf(notes[3]!).insert(0, 'x')
    await settle(w, notes.slice(1))
    same(notes.slice(1))
    for (const { awareness } of notes.slice(1)) expect(awareness.getStates().size).toBe(3)
  })

  test('that was saved to a file has its text where it is loaded', async () => {
    const { w, all, notes } = await room(17, 2)
    textOf(notes[0]!).insert(0, 'saved')
    await settle(w, notes)
    let from: Uint8Array | null = null
    void all[0]!.export().then((bytes) => (from = bytes))
    await w.runUntil(() => from !== null, 10_000)
    const other = (await w.join({ ...office, room: 'other', from: from! })).part(Notes)
    await settle(w, [other])
    expect(read(other)).toBe('saved')
  })
})
