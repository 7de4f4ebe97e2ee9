// Goal: a field that shows a state and sets it, such as a text input of React, is told of its own
// change within the call, so that it is drawn before the browser moves the caret to the end.
// Method: whole sessions in virtual time; what listeners hear within a call, and behind it.
import { describe, expect, test } from 'vitest'
import { action, object, piece, text } from '../../packages/holdfast/src/index.ts'
import { world } from '../../packages/sim/src/session-world.ts'
import { act } from './acting.ts'

const Note = object('note', { words: text(40) })
const Card = piece('card', { words: text(40) })
const deal = action('deal', (table) => void table.create(Card, { words: '' }))
const types = [Note, Card, deal]

async function room() {
  const w = world({ seed: 3, conditions: 'rtt=60' })
  await w.join({ game: 'notes', types, name: 'Ada' })
  const session = await w.join({ game: 'notes', types, name: 'Grace' })
  await w.run(1_000)
  const note = session.create(Note)
  await act(w, session.act(deal, null))
  await w.run(500)
  const card = session.all(Card)[0]!
  return { w, session, note, card }
}

describe('an own change', () => {
  test('of an object is heard within the call, later ones of the turn together (N-18)', async () => {
    const { w, session, note } = await room()
    const heard: string[] = []
    session.all(Note).subscribe(() => void heard.push(`list ${note.state.words}`))
    note.on('changed', () => void heard.push(note.state.words))
    note.set({ words: 'a' })
    expect(heard).toEqual(['a', 'list a'])
    note.set({ words: 'ab' })
    note.set({ words: 'abc' })
    expect(heard).toEqual(['a', 'list a'])
    await w.run(1)
    expect(heard).toEqual(['a', 'list a', 'abc', 'list abc'])
    await w.run(500)
    note.set({ words: 'abcd' })
    expect(heard.slice(4)).toEqual(['abcd', 'list abcd'])
    await w.run(500)
    expect(heard).toHaveLength(6)
  })

  test('of a piece is heard within the call (N-18)', async () => {
    const { w, session, card } = await room()
    const seen: string[] = []
    session.all(Card).subscribe(() => void seen.push(card.state.words))
    const done = card.update({ words: 'a' })
    expect(seen).toEqual(['a'])
    await act(w, done)
    expect(new Set(seen)).toEqual(new Set(['a']))
  })

  test('by a listener is heard behind it, and goes round in no circle (N-18)', async () => {
    const { w, note } = await room()
    const heard: string[] = []
    note.on('changed', () => {
      const { words } = note.state
      heard.push(words)
      if (words.length < 4) note.set({ words: `${words}!` })
      // Nothing is told within what is told.
      expect(heard.at(-1)).toBe(words)
    })
    note.set({ words: 'a' })
    expect(heard).toEqual(['a'])
    await w.run(1)
    expect(heard).toEqual(['a', 'a!', 'a!!', 'a!!!'])
    expect(w.reported).toEqual([])
  })
})
