/** What every Loop keeps to. Each driver passes itself in; so far all can do it all. */

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Alarm, Loop } from '../../packages/holdfast/src/ports.ts'

/** A loop and how to end it. */
export interface OpenedLoop {
  loop: Loop
  close: () => void
}

/** Runs the suite against one driver. */
export function loopConformance(name: string, open: () => Promise<OpenedLoop>): void {
  describe(`${name} as Loop`, () => {
    let opened: OpenedLoop
    let loop: Loop
    beforeAll(async () => {
      opened = await open()
      loop = opened.loop
    })
    afterAll(() => opened.close())

    /** Sets an alarm and waits until it goes off. @returns when it did */
    const ring = (after: number): Promise<{ asked: number; at: number }> =>
      new Promise((resolve) => {
        const asked = loop.now() + after
        loop.alarm(() => resolve({ asked, at: loop.now() })).set(asked)
      })

    test('now never goes backwards and has fractions', () => {
      let last = loop.now()
      let fractions = 0
      for (let i = 0; i < 10_000; i++) {
        const now = loop.now()
        expect(now).toBeGreaterThanOrEqual(last)
        if (!Number.isInteger(now)) fractions += 1
        last = now
      }
      expect(fractions).toBeGreaterThan(0)
    })

    test('random gives the asked number of bytes, fresh each time', () => {
      for (const count of [0, 1, 16, 70_000]) expect(loop.random(count)).toHaveLength(count)
      expect(loop.random(16)).not.toEqual(loop.random(16))
      expect(new Set(loop.random(70_000)).size).toBe(256)
      expect(
        loop
          .random(70_000)
          .subarray(65_536)
          .some((byte) => byte !== 0),
      ).toBe(true)
    })

    test('an alarm never goes off before its instant', async () => {
      const after = [5, 0, 12, 0.1, 3.3, 0.5, 7.7, 0.9, 2.5, 1, 1.5, 1.1]
      const rings = await Promise.all([...after, ...after, ...after].map((span) => ring(span)))
      for (const { asked, at } of rings) expect(at).toBeGreaterThanOrEqual(asked)
    })

    test('soon is when the code at hand has returned, in order, before any alarm', async () => {
      const order: string[] = []
      await new Promise<void>((resolve) => {
        loop.alarm(() => resolve(void order.push('alarm'))).set(loop.now())
        for (const name of ['one', 'other']) loop.soon(() => order.push(name))
        order.push('code')
      })
      expect(order).toEqual(['code', 'one', 'other', 'alarm'])
    })

    test('an instant in the past goes off soon, but not within the call', async () => {
      let rung = false
      await new Promise<void>((resolve) => {
        const alarm = loop.alarm(() => {
          rung = true
          resolve()
        })
        alarm.set(loop.now() - 1000)
        expect(rung).toBe(false)
      })
      expect(rung).toBe(true)
    })

    test('each set rings once, and a later set replaces an earlier one', async () => {
      const rings: string[] = []
      const now = loop.now()
      /** Sets an alarm for each instant in turn. @returns how late it was for the last of them */
      const setting = (name: string, afters: number[]): Promise<number> =>
        new Promise((resolve) => {
          const alarm = loop.alarm(() => {
            rings.push(name)
            resolve(loop.now() - now - afters.at(-1)!)
          })
          for (const after of afters) alarm.set(now + after)
        })
      const late = await Promise.all([
        setting('later', [1, 20]),
        setting('nearer', [2 ** 40, 5]),
        setting('twice', [1, 1]),
      ])
      await ring(40)
      // In whatever order: on a busy machine all are due at once.
      expect(rings.toSorted()).toEqual(['later', 'nearer', 'twice'])
      for (const ms of late) expect(ms).toBeGreaterThanOrEqual(0)
    })

    test('a cancelled alarm does not ring, and may be set again', async () => {
      let rings = 0
      const alarm = loop.alarm(() => (rings += 1))
      for (const instant of [-5, 0, 3]) {
        alarm.set(loop.now() + instant)
        alarm.cancel()
      }
      alarm.cancel()
      await ring(15)
      expect(rings).toBe(0)
      alarm.set(loop.now() + 1)
      await ring(15)
      expect(rings).toBe(1)
    })

    test('an instant of Infinity is never', async () => {
      let rings = 0
      const alarm = loop.alarm(() => (rings += 1))
      alarm.set(loop.now() + 2)
      alarm.set(Infinity)
      await ring(10)
      expect(rings).toBe(0)
    })

    test('an alarm far in the future does not ring now', async () => {
      let rings = 0
      const alarm = loop.alarm(() => (rings += 1))
      alarm.set(loop.now() + 2 ** 40)
      await ring(10)
      alarm.cancel()
      expect(rings).toBe(0)
    })

    test('an alarm may set itself while it rings', async () => {
      let rings = 0
      await new Promise<void>((resolve) => {
        const alarm = loop.alarm(() => {
          rings += 1
          if (rings === 200) resolve()
          else alarm.set(loop.now() - (rings % 2))
        })
        alarm.set(loop.now())
      })
      expect(rings).toBe(200)
    })

    test('one alarm may cancel another that is due in the same turn', async () => {
      const alarms: Alarm[] = []
      let rings = 0
      const at = loop.now() + 3
      for (let i = 0; i < 2; i++) {
        const alarm = loop.alarm(() => {
          rings += 1
          for (const other of alarms) other.cancel()
        })
        alarms.push(alarm)
        alarm.set(at)
      }
      await ring(20)
      expect(rings).toBe(1)
    })
  })
}
