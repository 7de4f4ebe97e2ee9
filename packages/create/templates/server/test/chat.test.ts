import { world } from 'holdfast/sim'
import { expect, test } from 'vitest'
import { chat, Message, MESSAGES_MAX, say } from '../src/chat.ts'

const open = { game: chat.game, types: chat.types }

test('a message is in the room once, and outlives the server', async () => {
  const w = world({ seed: 7, conditions: 'rtt=60,loss=2%' })
  const ada = await w.join({ ...open, name: 'Ada' })
  const grace = await w.join({ ...open, name: 'Grace' })
  await w.run(3_000)
  void ada.act(say, { name: 'Ada', words: ' Tea? ' })
  const empty = grace.act(say, { name: 'Grace', words: ' ' })
  await w.run(1_000)
  expect(await empty).toMatchObject({ ok: false, reason: 'a message needs words' })

  w.kill(ada) // who served
  await w.run(5_000)
  expect(grace.all(Message).map(({ state }) => state.words)).toEqual(['Tea?'])
})

test('old messages make room for new ones', async () => {
  const w = world({ seed: 8 })
  const ada = await w.join({ ...open, name: 'Ada' })
  await w.run(1_000)
  for (let at = 0; at <= MESSAGES_MAX; at++) {
    void ada.act(say, { name: 'Ada', words: `${at}` })
    await w.run(20)
  }
  await w.run(1_000)
  const all = ada.all(Message).map(({ state }) => state.words)
  expect([all.length, all[0], all.at(-1)]).toEqual([MESSAGES_MAX, '1', `${MESSAGES_MAX}`])
})
