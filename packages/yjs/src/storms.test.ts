// Goal: after a storm all documents are equal, and have each word that was acknowledged once, while
// servers die, packets are lost, and the room is left and opened again.
// Method: whole sessions in virtual time, by seed: each member writes words of its own, and some of
// them are deleted by others.
import * as Y from 'yjs'
import { describe, expect, test } from 'vitest'
import * as prng from '../../holdfast/src/faults/prng.ts'
import type { InternalSession as Session } from '../../holdfast/src/join/session-impl.ts'
import { type SessionWorld, world } from '../../sim/src/session-world.ts'
import { yDoc, type SharedDocument } from './index.ts'

const Notes = yDoc('notes')
const office = { game: 'office', types: [Notes] }

interface Writer {
  readonly session: Session
  readonly note: SharedDocument
  /** The words that it wrote since it was last saved. */
  open: string[]
}

class Storm {
  readonly w: SessionWorld
  readonly #draw: prng.Prng
  writers: Writer[] = []
  readonly acknowledged = new Set<string>()
  readonly deleted = new Set<string>()
  #words = 0

  constructor(seed: number, conditions: string) {
    this.w = world({ seed, conditions })
    this.#draw = prng.create(seed)
  }

  async enter(): Promise<Writer> {
    const session = await this.w.join({ ...office, name: `W${this.#words}` })
    const writer: Writer = { session, note: session.part(Notes), open: [] }
    writer.note.on('status', (status) => {
      if (status !== 'saved') return
      for (const word of writer.open) this.acknowledged.add(word)
      writer.open = []
    })
    this.writers.push(writer)
    return writer
  }

  /** Some edits of random members, over so many ms. */
  async blow(ms: number): Promise<void> {
    const until = this.w.now() + ms
    while (this.w.now() < until) {
      this.#edit(prng.pick(this.#draw, this.writers))
      await this.w.run(prng.below(this.#draw, 30))
    }
  }

  #edit({ note, open }: Writer): void {
    const text = note.doc.getText('text')
    const words = text.toJSON().split(' ')
    if (prng.chance(this.#draw, 0.2) && words.length > 4) {
      const word = prng.pick(this.#draw, words.slice(0, -1))
      this.deleted.add(word)
      text.delete(text.toJSON().indexOf(`${word} `), word.length + 1)
      return
    }
    // Between two words, so that no word is torn.
    const before = words.slice(0, prng.below(this.#draw, words.length)).join(' ')
    const word = `w${++this.#words}`
    open.push(word)
    text.insert(before === '' ? 0 : before.length + 1, `${word} `)
  }

  async kill(victim: Session | undefined): Promise<void> {
    if (!victim) return
    this.w.kill(victim, { silent: prng.chance(this.#draw, 0.5) })
    this.writers = this.writers.filter(({ session }) => session !== victim)
    await this.blow(prng.below(this.#draw, 400))
  }

  serving(role: 'primary' | 'backup'): Session | undefined {
    const player = this.writers[0]?.session[role]?.player
    return this.writers.find(({ session }) => session.me.player === player)?.session
  }

  isSafe(): boolean {
    return this.writers.every(({ session }) => session.safety === 'backed-up')
  }

  /** Waits until all is acknowledged. @returns the words of each document */
  async calm(): Promise<string[][]> {
    const isCalm = (): boolean => this.writers.every(({ note }) => note.status === 'saved')
    await this.w.runUntil(isCalm, 120_000)
    await this.w.run(3_000)
    return this.writers.map(({ note }) => note.doc.getText('text').toJSON().split(' '))
  }

  /** Acknowledged words that a document lacks, though nobody deleted them. */
  lost(words: readonly string[]): string[] {
    const missing = [...this.acknowledged].filter((word) => !words.includes(word))
    return missing.filter((word) => !this.deleted.has(word))
  }
}

function expectWhole(storm: Storm, all: readonly string[][]): void {
  const [words] = all
  expect(storm.writers.map(({ note }) => note.status)).toEqual(all.map(() => 'saved'))
  for (const other of all) expect(other).toEqual(words)
  expect(words!.filter((word, at) => words!.indexOf(word) !== at)).toEqual([])
  expect([storm.lost(words!), storm.w.reported]).toEqual([[], []])
}

describe('a storm of edits', () => {
  test.each([1, 2, 3, 4, 5, 6])('while servers die one after the other: seed %i', async (seed) => {
    const storm = new Storm(seed, 'rtt=60,loss=5%,jitter=20')
    const count = 3 + (seed % 3)
    for (let i = 0; i < count; i++) await storm.enter()
    await storm.blow(1_500)
    for (let deaths = 0; deaths < 3; deaths++) {
      expect(await storm.w.runUntil(() => storm.isSafe(), 30_000)).toBe(true)
      await storm.blow(500)
      await storm.kill(storm.serving('primary'))
      await storm.enter()
      await storm.blow(500)
    }
    expectWhole(storm, await storm.calm())
    expect(storm.acknowledged.size).toBeGreaterThan(50)
  })

  test.each([11, 12, 13])('while server and backup die at once: seed %i', async (seed) => {
    const storm = new Storm(seed, 'rtt=60,loss=5%')
    for (let i = 0; i < 5; i++) await storm.enter()
    await storm.blow(3_000)
    // What only these two acknowledged to each other may be gone: see the guide to rooms.
    expectWhole(storm, await storm.calm())
    const [primary, backup] = [storm.serving('primary'), storm.serving('backup')]
    for (const victim of [primary, backup]) await storm.kill(victim)
    storm.acknowledged.clear()
    await storm.blow(2_000)
    expectWhole(storm, await storm.calm())
    expect(storm.acknowledged.size).toBeGreaterThan(10)
  })

  test.each([21, 22, 23])(
    'while all leave or die, and others open the room: seed %i',
    async (seed) => {
      const storm = new Storm(seed, 'rtt=40,loss=2%')
      for (let visit = 0; visit < 3; visit++) {
        for (let i = 0; i < 3; i++) await storm.enter()
        await storm.blow(1_500)
        expectWhole(storm, await storm.calm())
        const { writers } = storm
        storm.writers = []
        for (const { session } of writers) {
          if (prng.chance(prng.create(seed + visit), 0.5)) storm.w.kill(session)
          else void session.leave()
        }
        await storm.w.run(10_000)
      }
      await storm.enter()
      expectWhole(storm, await storm.calm())
      expect(storm.acknowledged.size).toBeGreaterThan(50)
    },
  )
})

test('a document of 1 MB: what a newcomer and an edit cost', async () => {
  const Large = yDoc('large', { bytes: 1_500_000 })
  const w = world({ seed: 31, conditions: 'rtt=20' })
  const join = async (): Promise<SharedDocument> => {
    return (await w.join({ game: 'office', types: [Large], keepRoom: false })).part(Large)
  }
  const first = await join()
  const doc = new Y.Doc()
  const text = doc.getText('text')
  // Written in words, here and there, as people do.
  const draw = prng.create(31)
  for (let i = 0; i < 20_000; i++) text.insert(prng.below(draw, text.length + 1), `word ${i} `)
  text.insert(0, 'x'.repeat(600_000))
  first.bind(doc)
  expect(await w.runUntil(() => first.status === 'saved', 60_000)).toBe(true)
  expect(first.size.bytes).toBeGreaterThan(1_000_000)
  const second = await join()
  expect(second.doc.getText('text').toJSON()).toBe(text.toJSON())
  second.doc.getText('text').insert(0, 'y')
  await w.runUntil(() => second.status === 'saved', 60_000)
  expect(text.toJSON().startsWith('yx')).toBe(true)
  expect(w.reported).toEqual([])
})
