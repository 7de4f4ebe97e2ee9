// Goal: whatever a peer says, and whatever day a store is of, nothing throws, and what follows is
// what it was when it was frozen.
// Method: three mailboxes, driven by a seed: numbers and digests that are near what is so, stores
// that go back in time, owners that go on from what the other has.
import { expect, test } from 'vitest'
import type { MailContent } from '../../src/drivers/store/mail-memory.ts'
import * as prng from '../../src/faults/prng.ts'
import type { MailMessage } from '../../src/mailbox/messages.ts'
import type { Peer } from '../../src/mailbox/state.ts'
import { hash } from '../../src/sim/hash.ts'
import { NO_DIGEST, NO_LIFE } from '../../src/wire/history.ts'
import { calmly } from '../calmly.ts'
import { thawed } from '../frozen.ts'
import { Stage } from './stage.ts'

const NAMES = ['ada', 'bob', 'eve']
const STEPS = 90

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

function step(run: Run, at: number): void {
  const { stage, chance, copies } = run
  const name = prng.pick(chance, NAMES)
  const others = NAMES.filter((one) => one !== name)
  const other = prng.pick(chance, others)
  switch (prng.below(chance, 9)) {
    case 0:
      return stage.reconnect(name, other)
    case 1:
      return void copies.set(name, stage.copy(name))
    case 2:
      return stage.restart(name, structuredClone(copies.get(name)))
    case 3:
      return stage.mayAdopt(name, other) ? stage.adopt(name, other) : undefined
    case 4:
    case 5: {
      const knows = stage.known(other, name)
      return knows ? stage.lies(name, other, lieOf(run, knows)) : undefined
    }
    default:
      stage.post(name, other, `${at}${prng.chance(chance, 0.3) ? '?' : ''}`)
      return stage.pass(prng.below(chance, 4) * 10)
  }
}

test.each(Array.from({ length: 24 }, (_, seed) => seed + 1))(
  'S15, S21: lies and older stores do what they did, seed %d',
  (seed) => {
    const run: Run = { stage: new Stage(), chance: prng.create(seed), copies: new Map() }
    for (const name of NAMES) run.stage.open(name)
    for (let at = 0; at < STEPS; at++) calmly(() => step(run, at))
    calmly(() => run.stage.pass(2_000))
    const { lines } = run.stage.script
    expect(lines.some((line) => line.includes('a lie'))).toBe(true)
    expect(thawed('mailbox-lies', { [seed]: `${hash(lines)} ${hash(lines.length)}` })).toEqual([])
  },
)
