/** Captures a room that is kept, left by all, and opened again; in the open, and with a key. */

import type { JoinOptions } from '../../packages/holdfast/src/join/join.ts'
import { object } from '../../packages/holdfast/src/objects/objects.ts'
import { withRoom } from '../../packages/holdfast/src/objects/types.ts'
import { u8 } from '../../packages/holdfast/src/wire/fields/schema.ts'
import { bump, open } from './capture.ts'
import type { Sent } from './ledger.ts'

const Note = object('note', { x: u8 }, { onOwnerLeave: 'keep', kept: withRoom() })

/** Plays it. @returns all that was sent and written, in order */
export async function captureKept(keepRoom: NonNullable<JoinOptions['keepRoom']>): Promise<Sent[]> {
  const { sim, sent, settled, join, until } = open('star', [bump, Note])
  const ada = await join('ada', 'node', { keepRoom })
  await until('the hub has it', () => ada.safety === 'kept')
  for (const key of ['one', 'two']) await settled(ada.act(bump, { key, times: 1 }))
  const { token } = ada
  const note = ada.create(Note, { x: 1 })
  await sim.run(200)
  note.set({ x: 2 })
  await sim.run(200)
  await settled(ada.leave())
  await sim.run(1_000)
  const bea = await join('bea', 'node', { keepRoom, token })
  await settled(bea.act(bump, { key: 'three', times: 1 }))
  return sent
}
