// Goal: events run in the order of virtual time, those of one instant as they were added.
// Method: entries by hand, and by chance beside a list that is sorted.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import * as timeline from './timeline.ts'

const RUN = (): void => {}

describe('a timeline', () => {
  test('gives what is due, in order, and moves its clock to it (PR-2)', () => {
    const line = timeline.create()
    const late = timeline.add(line, 30, RUN)
    const first = timeline.add(line, 10, RUN)
    const second = timeline.add(line, 10, RUN)
    expect([timeline.take(line, 9.99), line.now]).toEqual([null, 0])
    expect(timeline.take(line, 10)).toBe(first)
    expect([timeline.take(line, 10), line.now]).toEqual([second, 10])
    expect(timeline.take(line, 29)).toBe(null)
    expect(timeline.take(line, Infinity)).toBe(late)
    expect([line.now, timeline.take(line, Infinity)]).toEqual([30, null])
  })
  test('adds nothing before now (PR-2)', () => {
    const line = timeline.create()
    timeline.add(line, 10, RUN)
    timeline.take(line, 10)
    expect(timeline.add(line, 4, RUN)).toMatchObject({ at: 10, late: false, kind: 'other' })
    expect(timeline.add(line, 11, RUN).at).toBe(11)
  })
  test('an entry is of the life of its owner in which it was added (PR-2)', () => {
    const line = timeline.create()
    const owner = { life: 3 }
    expect(timeline.add(line, 1, RUN)).toMatchObject({ owner: null, life: timeline.ANY_LIFE })
    expect(timeline.add(line, 1, RUN, owner)).toMatchObject({ owner, life: 3 })
    const made = timeline.add(line, 1, RUN, owner, timeline.ANY_LIFE, 'alarm')
    expect(made).toMatchObject({ life: timeline.ANY_LIFE, kind: 'alarm' })
  })
  test('of any entries is a sorted list (PR-2)', () => {
    const instants = fc.array(fc.nat(20), { maxLength: 60 })
    fc.assert(
      fc.property(instants, (all) => {
        const line = timeline.create()
        const entries = all.map((at) => timeline.add(line, at, RUN))
        const taken: timeline.Entry[] = []
        for (;;) {
          const entry = timeline.take(line, Infinity)
          if (!entry) break
          taken.push(entry)
        }
        const sorted = entries.toSorted((a, b) => a.at - b.at || a.order - b.order)
        expect(taken.map(({ order }) => order)).toEqual(sorted.map(({ order }) => order))
      }),
    )
  })
  test('takes an entry back for a later instant, behind those that are there by order (PR-2)', () => {
    const line = timeline.create()
    const [one, two] = [timeline.add(line, 1, RUN), timeline.add(line, 5, RUN)]
    expect(timeline.take(line, 1)).toBe(one)
    one.at = 5
    timeline.insert(line, one)
    expect(timeline.take(line, 5)).toBe(one)
    expect(timeline.take(line, 5)).toBe(two)
  })
})
