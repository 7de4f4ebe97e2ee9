// Goal: link.order, link.truth, link.fate and link.live, whatever the network does.
// Method: 200 seeds of loss, doubling, jitter and blackouts over a pair in virtual time; how they
// go is frozen.
import { expect, test } from 'vitest'
import {
  createPair,
  numberOf,
  numbered,
  offer,
  run,
  send,
  type End,
  type Pair,
} from '../../../../test/link/pair.ts'
import { hashValues, thawed } from '../../../../test/frozen.ts'
import { FATE } from './window.ts'

const SEEDS = 200

// link.order: what was handed up is a prefix of what was sent, once each.
function checkOrder(end: End): void {
  end.messages.forEach((bytes, index) => {
    if (numberOf(bytes) !== index) expect.fail(`message ${numberOf(bytes)} at place ${index}`)
  })
}

// link.truth: what one end takes for acked, the other end accepted; what it takes for delivered
// was handed up there.
function checkTruth(from: End, to: End, ids: number[]): void {
  for (const sequence of from.acked) {
    if (!to.accepted.has(sequence)) expect.fail(`packet ${sequence} is acked but not held`)
  }
  const upTo = from.delivered.at(-1) ?? 0
  const delivered = ids.filter((id) => id <= upTo).length
  if (delivered > to.messages.length) expect.fail(`${delivered} told, ${to.messages.length} held`)
}

// link.fate: each packet that asks for an ack has one verdict, or flies; `acked` may follow `lost`.
function checkFate(end: End): void {
  const { sent, counters } = end.link
  const told = new Set([...end.acked, ...end.lost])
  let flying = 0
  for (let sequence = sent.oldest; sequence < sent.next; sequence++) {
    if (sent.fate[sequence % sent.fate.length] !== FATE.flying) continue
    flying += 1
    if (told.has(sequence)) expect.fail(`packet ${sequence} has a verdict and still flies`)
  }
  expect(told.size + flying).toBe(counters.sent - counters.bareAcks)
  expect(new Set(end.acked).size).toBe(end.acked.length)
  expect(new Set(end.lost).size).toBe(end.lost.length)
  expect(end.lost.length).toBe(counters.lost)
}

function randomRun(seed: number): { pair: Pair; ids: [number[], number[]] } {
  const pair = createPair(seed)
  const { random } = pair
  pair.wire = {
    delay: random() * 60,
    jitter: random() < 0.5 ? random() * 60 : 0,
    loss: random() * 0.3,
    double: random() * 0.05,
  }
  const ids: [number[], number[]] = [[], []]
  for (let step = 0; step < 120; step++) {
    const side = random() < 0.5 ? 0 : 1
    const kind = random()
    if (kind < 0.6) {
      for (let count = Math.floor(random() * 5); count > 0; count--) {
        const length = random() < 0.1 ? random() * 9000 : random() * 100
        const message = numbered(ids[side].length, Math.floor(length))
        ids[side].push(send(pair, side, message))
      }
    } else if (kind < 0.95) {
      offer(pair, side, 4 + Math.floor(random() * 3), numbered(step, Math.floor(random() * 300)))
    } else {
      const blackout = random() < 0.5 ? 0 : 1
      pair.fate = (from) => (from === blackout || random() < 0.3 ? 0 : 1)
    }
    run(pair, pair.now + random() * 80)
    if (random() < 0.3) pair.fate = null
    checkOrder(pair.ends[0])
    checkOrder(pair.ends[1])
  }
  return { pair, ids }
}

test(`B2, B3: ${SEEDS} seeds keep order, truth, fate and life on a hostile network`, () => {
  const courses: number[] = []
  for (let seed = 1; seed <= SEEDS; seed++) {
    try {
      const { pair, ids } = randomRun(seed)
      pair.fate = null
      pair.wire = { delay: 20, jitter: 0, loss: 0, double: 0 }
      run(pair, pair.now + 9000)
      for (const side of [0, 1] as const) {
        const [from, to] = side === 0 ? pair.ends : [pair.ends[1], pair.ends[0]]
        checkOrder(to)
        checkTruth(from, to, ids[side])
        checkFate(from)
        expect(to.messages.length).toBe(ids[side].length)
        expect(from.delivered.at(-1) ?? 0).toBe(ids[side].at(-1) ?? 0)
        expect(from.newest).toEqual([])
        const { acked, lost, delivered, link } = from
        courses.push(hashValues([acked, lost, delivered, link.counters]))
      }
    } catch (error) {
      throw new Error(`seed ${seed}: ${(error as Error).message}`, { cause: error })
    }
  }
  expect(
    thawed('link', { [SEEDS]: `${hashValues(courses)} ${hashValues(courses.length)}` }),
  ).toEqual([])
}, 60_000)
