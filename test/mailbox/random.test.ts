// Goal: whatever processes die, connections break and batches come twice, a letter takes effect
// once, in order, and arrives; and what is said on the way is what it was.
// Method: three mailboxes, driven by a seed; all that they say, keep and are told is frozen.
import { expect, test } from 'vitest'
import * as prng from '../../packages/holdfast/src/faults/prng.ts'
import { hashValues, thawed } from '../frozen.ts'
import { Stage } from './stage.ts'

const NAMES = ['ada', 'bob', 'eve']
const STEPS = 60

function step(stage: Stage, chance: prng.Prng, at: number): void {
  const name = prng.pick(chance, NAMES)
  const other = prng.pick(
    chance,
    NAMES.filter((one) => one !== name),
  )
  switch (prng.below(chance, 9)) {
    case 0:
      return stage.reconnect(name, other)
    case 1:
      return stage.twice()
    case 2:
      return stage.dies(name)
    case 3:
      return stage.restart(name)
    case 4:
      return stage.pass(10 + prng.below(chance, 40) * 10)
    case 5:
      // More than one batch holds.
      for (let n = 0; n < 40; n++) stage.post(name, other, `${at}.${n} ${'x'.repeat(n * 40)}`)
      return
    default:
      stage.post(name, other, `${at}${prng.chance(chance, 0.3) ? '?' : ''}`)
      return stage.pass(prng.below(chance, 3) * 10)
  }
}

/** Letters as their owner handled them, by pair: those of a turn that was lost are gone again. */
function handled(stage: Stage): Map<string, number[]> {
  const found = new Map<string, number[]>()
  for (const line of stage.script.lines) {
    const [, name, n, from] = /^ *\S+ +(\w+) +handles (\d+) of (\w+):/.exec(line) ?? []
    if (name !== undefined) {
      const key = `${from}>${name}`
      found.set(key, [...(found.get(key) ?? []), Number(n)])
    }
  }
  return found
}

/** What a line says that a mailbox has of another. */
function standing(line: string) {
  const [, name, other, posted, acked, heard] =
    /(\w+) +has of (\w+): posted=(\d+) acked=(\d+) heard=(\d+)/.exec(line) ?? []
  return { name, other, posted, acked, heard }
}

function end(stage: Stage): void {
  // Nobody dies any more.
  stage.dies('')
  for (const [at, name] of NAMES.entries()) stage.reconnect(name, NAMES[(at + 1) % NAMES.length]!)
  stage.pass(60_000)
  for (const name of NAMES) for (const other of NAMES) if (name !== other) stage.stands(name, other)
}

test.each(Array.from({ length: 12 }, (_, seed) => seed + 1))(
  'S3, S9, S15, S24: seed %d goes as it went, and all letters arrive',
  (seed) => {
    const stage = new Stage()
    const chance = prng.create(seed)
    for (const name of NAMES) stage.open(name)
    for (let at = 0; at < STEPS; at++) step(stage, chance, at)
    end(stage)
    for (const numbers of handled(stage).values()) {
      // Who died before it kept a letter handles it once more; nobody skips one or goes back.
      for (const [at, n] of numbers.entries()) {
        const before = numbers[at - 1] ?? 0
        expect([before, before + 1]).toContain(n)
      }
    }
    const stands = stage.script.lines.filter((line) => line.includes(' has of '))
    expect(stands).toHaveLength(NAMES.length * (NAMES.length - 1))
    for (const { posted, acked, other, name } of stands.map(standing)) {
      const there = stands.map(standing).find((one) => one.name === other && one.other === name)
      expect([acked, there?.heard]).toEqual([posted, posted])
    }
    const digests = [stage.script.lines, stands].map(hashValues)
    expect(thawed('mailbox', { [seed]: digests.join(' ') })).toEqual([])
  },
)
