// Goal: whatever a machine that stops has kept of what was written and not synced, in whatever
// order its disk did it, a mailbox opens as it was before a turn or after it, and never as it was
// before a turn that was acknowledged.
// Method: every write and sync of a mailbox is on record; at each sync every choice of the writes
// that it was to bring to the disk is done, each opened with the real store and compared.
// Slow: hundreds of disks are made and opened, one for each choice.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openMailSqlite } from '../../packages/mailbox/src/drivers/mail-sqlite.ts'
import { bundle } from './bundle.ts'
import { Disk, type Step, stepsOf, withImage } from './disk-trace.ts'
import { bankOf } from './money-rows.ts'
import { noPreload, preload } from './preload.ts'
import { dice } from './until.ts'

/** Up to so many writes every choice of them is tried. */
const ALL_MAX = 8
/** And so many choices of more. */
const SOME = 100

// Thousands of stores are opened, and each syncs what nobody wants to keep.
const quick = existsSync('/dev/shm') ? '/dev/shm' : tmpdir()
const folder = mkdtempSync(join(quick, 'holdfast-unsynced-'))
const place = join(folder, 'disk')
const store = join(place, 'b.db')
const ledger = join(place, 'ledger')
const lacks = noPreload()
afterAll(() => rmSync(folder, { recursive: true, force: true }))

let steps: Step[] = []
beforeAll(async () => {
  if (lacks !== null) return
  mkdirSync(place)
  const script = await bundle('test/conformance/mail-turner.ts', join(folder, 'life'))
  const trace = join(folder, 'trace')
  const shim = preload('discard', folder)
  const env = { ...process.env, LD_PRELOAD: shim, TRACE: trace, WATCH: place }
  const words = [script, store, ledger]
  const { status, stderr } = spawnSync(process.execPath, words, { env, encoding: 'utf8' })
  if (status !== 0) throw new Error(`the mailbox: ${stderr}`)
  const files = [store, `${store}-wal`, ledger]
  steps = stepsOf(readFileSync(trace)).filter(({ path }) => files.includes(path))
})

/** What was to be brought to the disk at one moment, and what was acknowledged by then. */
interface Moment {
  disk: Disk
  loose: Step[]
  acked: number
}

/** Looks at every sync, and at every turn that was acknowledged; what is written then is loose. */
function walk(trace: readonly Step[], look: (moment: Moment) => void): string[] {
  const disk = new Disk()
  const after: string[] = []
  for (const step of trace) {
    const isTurn = step.path === ledger
    if (isTurn) after.push(step.data.toString().trimEnd())
    // Before the first line nothing was promised.
    if (after.length > 0 && (isTurn || step.what === 'S'))
      look({ disk, loose: disk.loose, acked: after.length - 1 })
    if (!isTurn) disk.take(step)
  }
  return after
}

/** Choices of writes: all of them, or each beginning, all but one, and some by chance. */
function choices(loose: readonly Step[], seed: number): Step[][] {
  const pick = (is: (at: number) => boolean): Step[] => loose.filter((_step, at) => is(at))
  if (loose.length <= ALL_MAX)
    return Array.from({ length: 2 ** loose.length }, (_, bits) =>
      pick((at) => (bits >> at) % 2 === 1),
    )
  const random = dice(seed)
  return [
    ...loose.flatMap((_step, one) => [pick((at) => at < one), pick((at) => at !== one)]),
    [...loose],
    ...Array.from({ length: SOME }, () => {
      const share = random.next()
      return pick(() => random.next() < share)
    }),
  ]
}

/** The same, with the last write torn in half. */
function torn(done: readonly Step[]): Step[] {
  const last = done.at(-1)!
  return [...done.slice(0, -1), { ...last, data: last.data.subarray(0, last.data.length / 2) }]
}

function tornOf(loose: readonly Step[]): Step[][] {
  return loose.flatMap(({ what }, at) => (what === 'W' ? [torn(loose.slice(0, at + 1))] : []))
}

/** What is wrong, and at how many disks it was looked. */
function judge(trace: readonly Step[], everyChoice = true): { wrong: string[]; disks: number } {
  const found: { acked: number; state: string; what: string }[] = []
  let moments = 0
  const after = walk(trace, ({ disk, loose, acked }) => {
    const seed = ++moments
    const all = everyChoice ? [...choices(loose, seed), ...tornOf(loose)] : [[]]
    for (const done of all) {
      const state = withImage(disk.image(done), join(folder, 'image'), store, opened)
      const what = `with ${done.length} of ${loose.length} writes at moment ${seed}`
      found.push({ acked, state, what })
    }
  })
  const wrong = found.flatMap(({ acked, state, what }) => {
    const has = after.indexOf(state)
    if (has === acked || has === acked + 1) return []
    const opens = has < 0 ? 'to no state that ever was' : `as after turn ${has}`
    return [`${what}: turn ${acked} was acknowledged, and the store opens ${opens}`]
  })
  return { wrong, disks: found.length }
}

function opened(path: string): string {
  try {
    const store = openMailSqlite(path)
    try {
      return bankOf(store)
    } finally {
      store.close()
    }
  } catch (error) {
    return String(error)
  }
}

describe('a mailbox in whose turns the machine stops', () => {
  test('S31: opens before a turn or after it, whatever of its writes was kept', (context) => {
    if (lacks !== null) context.skip(lacks) // needs a C compiler
    const { wrong, disks } = judge(steps)
    expect(wrong).toEqual([])
    expect(disks).toBeGreaterThan(500)
  })

  test('that acknowledges a turn before its sync is caught, and the turn named', (context) => {
    if (lacks !== null) context.skip(lacks) // needs a C compiler
    const early = steps.filter(({ path }) => path !== ledger)
    const turns = steps.filter(({ path }) => path === ledger)
    // Each turn is told with the last write before its sync.
    const at = turns.map((turn) => steps.slice(0, steps.indexOf(turn)).findLastIndex(isSync))
    for (const [n, turn] of [...turns.entries()].toReversed()) early.splice(at[n]! - n, 0, turn)
    const { wrong } = judge(early, false)
    const named = turns
      .map((_turn, n) => `turn ${n} was acknowledged, and the store opens as after turn ${n - 1}`)
      .filter((why) => wrong.some((one) => one.endsWith(why)))
    expect(named).toHaveLength(turns.length - 1)
  })
})

const isSync = ({ what, path }: Step): boolean => what === 'S' && path.endsWith('-wal')
