import { world } from 'holdfast/sim'
import { expect, test } from 'vitest'
import { add, board, Note, remove } from '../src/board.ts'

test('notes outlive the server, and are removed once', async () => {
  const w = world({ seed: 7, conditions: 'rtt=60,loss=2%' })
  const ada = await w.join({ ...board, name: 'Ada' })
  const grace = await w.join({ ...board, name: 'Grace' })
  await w.run(3_000)
  void ada.act(add, { title: 'Pour the tea' })
  const empty = grace.act(add, { title: ' ' })
  await w.run(1_000)
  expect(await empty).toMatchObject({ ok: false, reason: 'a note needs a title' })

  w.kill(ada) // who served
  await w.run(5_000)
  const [note] = grace.all(Note)
  expect(note?.state).toEqual({ title: 'Pour the tea', column: 'todo' })
  void grace.act(remove, { note: note!.id })
  await w.run(1_000)
  expect(grace.all(Note).length).toBe(0)
})
