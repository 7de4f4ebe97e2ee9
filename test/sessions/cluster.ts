/** A cluster in virtual time, and what its mistakes are answered with. */

import { expect } from 'vitest'
import {
  action,
  type ActionOutcome,
  type CallOutcome,
  bytes,
  HoldfastError,
  type JoinOptions,
  object,
  type Session,
  text,
  u8,
} from '../../packages/holdfast/src/index.ts'
import { type SessionWorld, world } from '../../packages/sim/src/session-world.ts'

/** A type that anybody may take. */
export const Rock = object('rock', { weight: u8 }, { take: 'free', onOwnerLeave: 'keep' })
const Blob = object('blob', { name: text(8), run: bytes(8) })
/** Writes to the table. */
export const put = action('put', (table, { key, value }: { key: string; value: unknown }) => {
  table.set(key, value as never)
})
/** What the cluster plays with. */
export const types = [Rock, Blob, put]

/** Members that have met. */
export interface Cluster {
  w: SessionWorld
  all: Session[]
}

/** Three members, all in, with time to become a server and its backup. */
export async function cluster(more: Partial<JoinOptions> = {}, count = 3): Promise<Cluster> {
  const w = world({ seed: 5, conditions: 'rtt=20' })
  const all: Session[] = []
  for (const name of ['Ada', 'Grace', 'Linus'].slice(0, count)) {
    all.push(await w.join({ game: 'garden', types, name, ...more }))
  }
  await w.run(2_000)
  return { w, all }
}

/** What a promise gives, as time passes. */
export async function settled<Value>(w: SessionWorld, promise: Promise<Value>): Promise<Value> {
  let done = false
  void promise.finally(() => (done = true)).catch(() => {})
  await w.runUntil(() => done, 20_000)
  return promise
}

/** The sentence of what a call throws, which must be ours. */
export function refusal(run: () => unknown): string {
  try {
    run()
  } catch (error) {
    expect(error).toBeInstanceOf(HoldfastError)
    return `${(error as HoldfastError).code}: ${(error as Error).message}`
  }
  return expect.unreachable('nothing was thrown')
}

/** The sentence with which an async call rejects, which must be ours. */
export async function rejection(call: Promise<unknown>): Promise<string> {
  const error = await call.then(null, (reason: unknown) => reason)
  return refusal(() => {
    if (error !== undefined) throw error
  })
}

/** What an action or a call answered, as time passes. @throws Error with the reason of a no */
export async function answered<Answer>(
  w: SessionWorld,
  asked: Promise<ActionOutcome<Answer> | CallOutcome<Answer>>,
): Promise<Answer> {
  const outcome = await settled(w, asked)
  if (!outcome.ok) throw new Error(outcome.reason)
  return outcome.value
}
