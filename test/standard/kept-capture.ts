/** Captures a room that is kept, left by all, and opened again; in the open, and with a key. */

import type { JoinOptions } from '../../src/faces/join.ts'
import { bump, open } from './capture.ts'
import type { Sent } from './ledger.ts'

/** Plays it. @returns all that was sent and written, in order */
export async function captureKept(keepRoom: NonNullable<JoinOptions['keepRoom']>): Promise<Sent[]> {
  const { sim, sent, settled, join, until } = open('star')
  const ada = await join('ada', 'node', { keepRoom })
  await until('the hub has it', () => ada.safety === 'kept')
  for (const key of ['one', 'two']) await settled(ada.act(bump, { key, times: 1 }))
  const { token } = ada
  await settled(ada.leave())
  await sim.run(1_000)
  const bea = await join('bea', 'node', { keepRoom, token })
  await settled(bea.act(bump, { key: 'three', times: 1 }))
  return sent
}
