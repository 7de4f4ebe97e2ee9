// Goal: what a mailbox does, posts and says of itself is a function of what it was given: not of
// when its process began, nor of how its turns were grouped (the bug of seed 003, on openMailbox).
// Method: two replicas with files take the same batches of up to four peers in each tick; one is
// closed or killed at every step and every pair of steps; `holdfast diverge` compares their logs.
// Slow: two replicas run anew for every pair of steps at which one may end.
import { copyFileSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { diverge } from '../../packages/cli/src/diverge.ts'
import { type Mailbox, openMailbox } from '../../packages/mailbox/src/index.ts'

const folder = mkdtempSync(join(tmpdir(), 'holdfast-replicas-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
let files = 0
const freshFile = (end: string): string => join(folder, `${++files}.${end}`)

/** A batch as it stands in the log of inputs. */
interface Input {
  from: string
  bytes: Uint8Array
}

/** Ticks of inputs: first contacts, letters that come twice, acks, letters that are set aside. */
let script: Input[][] = []
const PEERS = ['zoe', 'amy', 'bob', 'cat']

beforeAll(async () => {
  const boxes = new Map<string, Mailbox>()
  for (const id of PEERS) boxes.set(id, await openMailbox({ id, store: null }))
  const post = async (id: string, ...bodies: unknown[]): Promise<void> => {
    for (const body of bodies) await boxes.get(id)!.to('kernel').post(body)
  }
  const input = (from: string, heard = 0): Input => ({
    from,
    bytes: boxes.get(from)!.batch('kernel', heard),
  })
  // Two first contacts in one tick, the later name first.
  for (const id of ['zoe', 'amy']) await post(id, 1)
  const ticks: Input[][] = [[input('zoe'), input('amy')]]
  for (const id of PEERS) await post(id, 2, 'x'.repeat(30_000))
  ticks.push([input('zoe', 1), input('cat'), input('amy', 1)])
  ticks.push([input('zoe', 1), input('bob')], [input('bob'), input('bob')])
  await post('amy', 'bad')
  for (const id of PEERS) await post(id, 'x'.repeat(30_000), 'y'.repeat(30_000))
  ticks.push(
    PEERS.map((id) => input(id)),
    PEERS.toReversed().map((id) => input(id, 2)),
  )
  // What cannot be handled is brought again, until it is set aside.
  ticks.push([input('amy', 3), input('zoe', 3)], [input('amy', 3), input('cat', 3)])
  script = ticks
  for (const box of boxes.values()) await box.close()
})

type End = 'closed' | 'killed'

/** One replica: what it did is written down as one line for each thing. */
class Replica {
  readonly log: string[] = []
  #box!: Mailbox
  #store = freshFile('db')
  readonly #isReplica: boolean

  constructor(isReplica: boolean) {
    this.#isReplica = isReplica
  }

  async begin(): Promise<void> {
    this.#box = await openMailbox({
      id: 'kernel',
      store: this.#store,
      triesMax: 2,
      onPoison: 'setAside',
      replica: this.#isReplica,
    })
    this.#box.on('letter', (tx, from, body) => {
      const crank = ((tx.get('crank') as number) ?? 0) + 1
      tx.set('crank', crank)
      this.log.push(JSON.stringify({ crank, from, body: String(body).slice(0, 8) }))
      if (body === 'bad') throw new Error('no')
      tx.post(from, `${crank} for ${from}`.padEnd(typeof body === 'string' ? 30_000 : 1))
      if (from !== 'zoe') tx.post('zoe', { seen: from })
    })
  }

  async end(how: End): Promise<void> {
    const copy = freshFile('db')
    // As a process that is killed leaves it: with its journal.
    if (how === 'killed') {
      for (const end of ['', '-wal']) {
        if (existsSync(this.#store + end)) copyFileSync(this.#store + end, copy + end)
      }
    }
    await this.#box.close()
    if (how === 'killed') this.#store = copy
  }

  /** Takes what comes in a tick, all at once or one after the other, and says how it stands. */
  async tick(inputs: readonly Input[], isGrouped: boolean): Promise<void> {
    const said: string[] = []
    const take = ({ from, bytes }: Input, at: number): Promise<unknown> =>
      this.#box.take(from, bytes).then(
        () => (said[at] = 'ok'),
        (error: Error) => (said[at] = error.message),
      )
    if (isGrouped) await Promise.all(inputs.map(take))
    else for (const [at, input] of inputs.entries()) await take(input, at)
    const box = this.#box
    this.log.push(JSON.stringify({ said }), JSON.stringify({ queues: box.queues() }))
    for (const peer of PEERS) {
      const bytes = Buffer.from(box.batch(peer, 0)).toString('base64')
      this.log.push(JSON.stringify({ peer, heard: box.query(peer), batch: bytes }))
    }
    const dead = box.dead().map(({ peer, n, why }) => ({ peer, n, why }))
    this.log.push(JSON.stringify({ crank: box.get('crank'), dead }))
  }
}

/** Runs the script. @param ends  before which ticks the process ends, and how */
async function run(
  ends: ReadonlyMap<number, End>,
  { isGrouped = true, isReplica = true } = {},
): Promise<string> {
  const replica = new Replica(isReplica)
  await replica.begin()
  for (const [at, inputs] of script.entries()) {
    const how = ends.get(at)
    if (how) {
      await replica.end(how)
      await replica.begin()
    }
    await replica.tick(inputs, isGrouped)
  }
  await replica.end('closed')
  const file = freshFile('log')
  writeFileSync(file, `${replica.log.join('\n')}\n`)
  return file
}

describe('two replicas on openMailbox', () => {
  let left = ''
  beforeAll(async () => {
    left = await run(new Map())
  })
  const parts = async (right: string): Promise<string> => {
    const [told, equal] = await diverge(left, right)
    return equal ? '' : told
  }

  test('S22, S27: a restart at any step leaves no trace (MB-8, MB-9, MB-10)', async () => {
    for (const how of ['closed', 'killed'] as const) {
      for (let at = 0; at < 8; at++) {
        expect([how, at, await parts(await run(new Map([[at, how]])))]).toEqual([how, at, ''])
      }
    }
  })

  test('S22, S27: nor do two at any pair of steps (MB-8, MB-9)', async () => {
    for (let one = 0; one < 8; one++) {
      for (let other = one + 1; other < 8; other++) {
        const ends = new Map<number, End>([
          [one, 'killed'],
          [other, 'closed'],
        ])
        expect([one, other, await parts(await run(ends))]).toEqual([one, other, ''])
      }
    }
  })

  test('S22: nor does how turns are grouped (MB-8, MB-9)', async () => {
    const all = new Map(script.map((_tick, at) => [at, 'closed' as const]))
    expect(await parts(await run(new Map(), { isGrouped: false }))).toBe('')
    expect(await parts(await run(all, { isGrouped: false }))).toBe('')
    expect(await parts(await run(all))).toBe('')
  })

  test('S15, S23: what a restart changes is found, and named', async () => {
    // A mailbox that is no replica posts in another life after each opening, and says so.
    const one = await run(new Map(), { isReplica: false })
    const [told, equal] = await diverge(
      one,
      await run(new Map([[3, 'closed']]), { isReplica: false }),
    )
    expect(equal).toBe(false)
    expect(told).toMatch(/^ {2}batch /m)
  })
})

test('take() is kept for what is durable alone (MB-10)', async () => {
  const amy = await openMailbox({ id: 'amy', store: null })
  for (const body of [1, 2]) await amy.to('kernel').post(body)
  const bytes = amy.batch('kernel', 0)
  const kernel = await openMailbox({ id: 'kernel', store: freshFile('db') })
  const says = (take: Promise<void>): Promise<string> =>
    take.then(
      () => 'kept',
      ({ code, message }: { code?: string; message: string }) => `${code}: ${message}`,
    )
  expect(await says(kernel.take('amy', bytes))).toBe(
    'failed: letter 1 of amy waits: there is no handler for letters',
  )
  expect(await says(kernel.take('bob', Uint8Array.of(1, 2, 3)))).toBe(
    'bad-value: the bytes are no message of a mailbox',
  )
  kernel.on('letter', (_tx, _from, body) => {
    if (body === 2) throw new Error('not two')
  })
  expect(await says(kernel.take('cat', amy.batch('kernel', 1)))).toBe(
    'failed: letter 1 of cat is missing',
  )
  expect(await says(kernel.take('amy', bytes))).toContain(
    'failed: letter 2 of amy waits to be handled again: ',
  )
  expect([kernel.query('amy'), kernel.query('bob'), kernel.query('cat')]).toEqual([1, 0, 0])
  for (const box of [amy, kernel]) await box.close()
})
