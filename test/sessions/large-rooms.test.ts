// Goal: a room whose state is too large to be stored goes on as one that is not stored, and says
// why, once; what is too large is no reason to stop acknowledging.
// Method: whole sessions in virtual time, with a part whose snapshot has three megabytes.
import { expect, test } from 'vitest'
import { action } from '../../packages/holdfast/src/index.ts'
import { definePart } from '../../packages/holdfast/src/part.ts'
import { world } from '../../packages/sim/src/session-world.ts'

const SNAPSHOT = new Uint8Array(3 * 1024 * 1024)
const Heavy = definePart({
  channel: 64,
  text: () => 'v1',
  create: () => ({}),
  perform: () => ({}),
  apply: () => {},
  snapshot: () => SNAPSHOT,
  restore: () => ({}),
  face: () => null,
})('heavy')
const count = action('count', (table) => {
  const n = Number(table.get('n') ?? 0) + 1
  table.set('n', n)
  return n
})
const game = { game: 'heavy', types: [Heavy, count] }

test.each([false, true])(
  'a room of three megabytes is not stored, and plays on (strict: %j)',
  async (strict) => {
    const w = world({ seed: 5, conditions: 'rtt=20' })
    const keepRoom = { for: '30d', strict } as const
    const ada = await w.join({ ...game, keepRoom, name: 'Ada' })
    await w.run(10_000)
    const acted = ada.act(count)
    await w.run(10_000)
    if (!strict) expect(await acted).toMatchObject({ ok: true, value: 1 })
    expect(ada.safety).toBe(strict ? 'waiting' : 'alone')
    const why = w.reported.filter((line) => line.includes('its state has more than'))
    expect([why.length, w.reported.length]).toEqual([1, 1])
    await expect(ada.export()).rejects.toMatchObject({ code: 'full' })
  },
)
