// Goal: what the classic game promises holds in games from seeds, with every fault there is.
// Method: the shipped machines in virtual time; `npm run soak -- mazewar` plays a thousand more.
// Slow: it plays games from many seeds.
import { expect, test } from 'vitest'
import { FAULTS, type Found, play } from '../mazewar/scene.ts'

function games(count: number, wild: boolean): Found[] {
  return Array.from({ length: count }, (_, i) => {
    return play((wild ? 10_000 : 20_000) + i, FAULTS[i % FAULTS.length]!, wild)
  })
}

function complaints(found: Found[]): string[] {
  return found.flatMap(({ seed, fault, complaints: all }) =>
    all.map((one) => `seed ${seed}, ${fault}: ${one}`),
  )
}

test('M32, M33, M36, M37: 100 games with loss to 30 %, and after each all pictures are the same', () => {
  const found = games(100, true)
  expect(complaints(found)).toEqual([])
  expect(Math.max(...found.map(({ settledMs }) => settledMs!))).toBeLessThan(6_000)
})

test('M34, M35, M38, M55: 100 games on a quiet wire, and a picture is wrong only at who was cut off', () => {
  const found = games(100, false)
  expect(complaints(found)).toEqual([])
  for (const { seed, fault, wrongAtTwo, wrongElsewhere } of found) {
    // Of who is cut from all, and of who left in silence, the others know what it said last, and
    // not all of them find out at once (M25, M37).
    if (fault.startsWith('one cut') || fault.startsWith('one leaves')) continue
    expect([seed, fault, wrongElsewhere]).toEqual([seed, fault, []])
    if (fault === 'none') expect([seed, wrongAtTwo]).toEqual([seed, []])
  }
  const cut = found.filter(({ fault }) => fault === 'pair cut, long')
  expect(cut.flatMap(({ wrongAtTwo }) => wrongAtTwo).length).toBeGreaterThan(0)
})
