// Goal: whatever a peer says, and whatever day a store is of, nothing throws, and what follows is
// what it was when it was frozen.
// Method: three mailboxes, driven by a seed: numbers and digests that are near what is so, stores
// that go back in time, owners that go on from what the other has.
import { expect, test } from 'vitest'
import type { MailContent } from '../../packages/mailbox/src/drivers/mail-memory.ts'
import * as prng from '../../packages/holdfast/src/faults/prng.ts'
import type { MailMessage } from '../../packages/mailbox/src/machine/messages.ts'
import type { Peer } from '../../packages/mailbox/src/machine/state.ts'
import { KEY_BYTES } from '../../packages/holdfast/src/ports.ts'
import { NO_DIGEST, NO_LIFE } from '../../packages/holdfast/src/wire/history.ts'
import { calmly } from '../calmly.ts'
import { hashValues, thawed } from '../frozen.ts'
import { type Keys, type Mood, Stage } from './stage.ts'

const NAMES = ['ada', 'bob', 'eve']
const STEPS = 120
const MOODS: readonly Mood[] = ['wait', 'wait', 'throw', 'full', 'refuse']

interface Run {
  stage: Stage
  chance: prng.Prng
  copies: Map<string, MailContent>
}

function near({ chance }: Run, number: number): number {
  return Math.max(0, prng.pick(chance, [0, number - 1, number, number, number + 1, number + 7]))
}

function digest({ chance }: Run, known: Uint8Array): Uint8Array {
  const other = new Uint8Array(known.length).fill(prng.below(chance, 256))
  return prng.pick(chance, [known, known, NO_DIGEST, other])
}

/** What one might say of itself to another who knows it so. */
function lieOf(run: Run, knows: Peer): MailMessage {
  const { chance } = run
  if (prng.chance(chance, 0.1)) return { kind: 'fault', why: 'no reason' }
  const [heard, posted] = [near(run, knows.posted), near(run, knows.heard)]
  if (prng.chance(chance, 0.4)) {
    const digests = {
      heardDigest: digest(run, knows.postedDigest),
      postedDigest: digest(run, knows.heardDigest),
    }
    const lives = { ourLives: [...knows.theirLives], theirLives: [...knows.ourLives] }
    return { kind: 'hello', heard, posted, acked: near(run, knows.heard), ...digests, ...lives }
  }
  const first = Math.max(1, near(run, knows.heard + 1))
  const letters = Array.from({ length: prng.below(chance, 4) }, (_, at) => ({
    n: first + at + (prng.chance(chance, 0.1) ? 1 : 0),
    body: Uint8Array.of(97 + prng.below(chance, 26)),
  }))
  const life = prng.pick(chance, [NO_LIFE, knows.theirLives.at(-1)?.life ?? NO_LIFE])
  const before = digest(run, knows.heardDigest)
  const ackDigest = digest(run, knows.postedDigest)
  return { kind: 'batch', life, before, letters, ack: heard, ackDigest }
}

/** The keys that two prove: mostly their own. */
function keysOf({ chance }: Run, ...names: readonly string[]): Keys {
  if (prng.chance(chance, 0.4)) return [null, null]
  return names.map((name) => {
    const key = prng.chance(chance, 0.85) ? NAMES.indexOf(name) + 1 : 9
    return new Uint8Array(KEY_BYTES).fill(key)
  }) as unknown as Keys
}

function step(run: Run, at: number): void {
  const { stage, chance, copies } = run
  const name = prng.pick(chance, NAMES)
  const others = NAMES.filter((one) => one !== name)
  const other = prng.pick(chance, others)
  switch (prng.below(chance, 10)) {
    case 0:
      return stage.reconnect(name, other, keysOf(run, name, other))
    case 1:
      return void copies.set(name, stage.copy(name))
    case 2:
      return stage.restart(name, structuredClone(copies.get(name)))
    case 3:
      return stage.mayAdopt(name, other) ? stage.adopt(name, other) : undefined
    case 4:
      return stage.turns(name, prng.pick(chance, MOODS))
    case 5:
    case 6: {
      const knows = stage.known(other, name)
      return knows ? stage.lies(name, other, lieOf(run, knows)) : undefined
    }
    default:
      stage.post(name, other, `${at}${prng.chance(chance, 0.3) ? '?' : ''}`)
      return stage.pass(prng.below(chance, 4) * 10)
  }
}

test.each(Array.from({ length: 20 }, (_, seed) => seed + 1))(
  'S15, S21: lies and older stores do what they did, seed %d',
  (seed) => {
    const run: Run = { stage: new Stage(), chance: prng.create(seed), copies: new Map() }
    for (const name of NAMES) run.stage.open(name)
    for (let at = 0; at < STEPS; at++) calmly(() => step(run, at))
    calmly(() => run.stage.pass(2_000))
    const { lines } = run.stage.script
    expect(lines.some((line) => line.includes('a lie'))).toBe(true)
    expect(
      thawed('mailbox-lies', { [seed]: `${hashValues(lines)} ${hashValues(lines.length)}` }),
    ).toEqual([])
  },
)
