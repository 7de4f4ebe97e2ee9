// Goal: of the sheets that a host has, none goes that the hub may still name.
// Method: the shipped verbs, by hand.
import { describe, expect, test } from 'vitest'
import * as ownStore from '../../packages/holdfast/src/member/own-store.ts'
import type { OwnSheet, Runtime } from '../../packages/holdfast/src/member/state.ts'
import { toyCiphers } from '../../packages/sim/src/toy-ciphers.ts'

const WHOLE = (name: string): OwnSheet => ({ name, isWhole: true })
const ENTRIES = (name: string): OwnSheet => ({ name, isWhole: false })

/** A member that leads, and what its store is told to keep. */
function leading(ownSheets: OwnSheet[], keeping: object): { run: Runtime; kept: string[][] } {
  const kept: string[][] = []
  const all = { flying: false, kept: 5, sent: 5, why: '', ...keeping }
  const run = {
    member: { ownSheets, session: { id: 's', server: { lead: { keeping: all } } } },
    ports: { ownStore: { keepOnly: (_: string, names: string[]) => kept.push(names) } },
  } as unknown as Runtime
  return { run, kept }
}

const TWICE = [WHOLE('a'), ENTRIES('b'), WHOLE('c'), ENTRIES('d')]

describe('what the hub has said', () => {
  test('lets go what is before the newest whole state', () => {
    const { run, kept } = leading(TWICE, {})
    ownStore.settle(run)
    expect(kept).toEqual([['c', 'd']])
    ownStore.settle(run)
    expect(kept.length).toBe(1)
  })

  test.each([
    ['of an older sheet', { flying: true }],
    ['of a part of it', { kept: 4 }],
    ['that it does not', { why: 'full' }],
    ['nothing since all is to be written anew', { sent: -1 }],
    ['that what came does not follow', { sent: -1, kept: -1 }],
  ])('%s lets nothing go', (_, keeping) => {
    const { run, kept } = leading(TWICE, keeping)
    ownStore.settle(run)
    expect([kept, run.member.ownSheets.length]).toEqual([[], 4])
  })

  test('lets nothing go behind the only whole state', () => {
    const { run, kept } = leading([WHOLE('a'), ENTRIES('b')], {})
    ownStore.settle(run)
    expect(kept).toEqual([])
  })
})

test('who leads drops what the store has beside what was opened, at hosts alone', () => {
  for (const [terms, all] of [
    [ownStore.AT_HOSTS, [['a', 'b']]],
    ['keep=10', []],
  ] as const) {
    const { run, kept } = leading([WHOLE('a'), ENTRIES('b')], {})
    Object.assign(run.member.session, { terms })
    ownStore.begin(run)
    expect(kept).toEqual(all)
  }
})

describe('digests that are opened', () => {
  const sheet = Uint8Array.of(1, 2, 3)
  const terms = ownStore.AT_HOSTS
  const has = new Map<string, Uint8Array>()
  const run = {
    member: { ownSheets: [], session: { id: 's', terms } },
    ports: {
      ciphers: toyCiphers,
      ownStore: {
        put: (session: string, name: string, bytes: Uint8Array) => has.set(session + name, bytes),
        read: (session: string, name: string) => has.get(session + name) ?? null,
      },
    },
  } as unknown as Runtime
  const digest = ownStore.put(run, sheet, true)

  test('are sheets of this store and session, byte for byte', () => {
    expect(ownStore.take(run, 's', [digest])).toEqual([sheet])
    expect(ownStore.take(run, 'another', [digest])).toBe(null)
    for (const bad of [new Uint8Array(0), digest.slice(1), Uint8Array.of(...digest, 0)]) {
      expect(ownStore.take(run, 's', [bad])).toBe(null)
    }
    const [key] = [...has.keys()]
    has.set(key!, Uint8Array.of(1, 2, 4))
    expect(ownStore.take(run, 's', [digest])).toBe(null)
    has.set(key!, sheet)
    expect(
      ownStore.take({ ...run, ports: { ciphers: toyCiphers } } as Runtime, 's', [digest]),
    ).toBe(null)
  })
})
