// Goal: what letters do in a database, or behind HTTP, happens once there, though it may be begun
// more often: whoever is killed between an effect and its acknowledgement does it again.
// Method: the examples of the guide, in a process that is killed; PostgreSQL on a socket of its
// own, which stops and starts; a server of HTTP that forgets to answer.
// Slow: PostgreSQL is set up and started anew, and each seventh payment kills a process.
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text as textOf } from 'node:stream/consumers'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Notice, sendTo } from '../../games/examples/mailbox/http.ts'
import { Payment, payInto, TABLES } from '../../games/examples/mailbox/postgres.ts'
import { bundle } from './bundle.ts'
import { drained, openMailboxes } from './open-mailboxes.ts'
import { MISSING, Postgres, programs } from './postgres.ts'
import { freePort } from './free-port.ts'

const { folder, freshFile, open } = openMailboxes('effects')

const bin = programs()
if (!bin && process.env['CI']) throw new Error(MISSING)

describe('a letter whose effect is in PostgreSQL', () => {
  let postgres: Postgres | undefined
  let db: pg.Pool | undefined

  beforeAll(async () => {
    if (!bin) return
    postgres = new Postgres(bin)
    await postgres.start()
    db = new pg.Pool({ host: postgres.host, user: 'postgres' })
    db.on('error', () => {})
    await db.query(TABLES)
  })
  afterAll(async () => {
    await db?.end()
    await postgres?.remove()
  })

  async function sums(): Promise<Record<string, number>> {
    const { rows } = await db!.query<{ name: string; cents: string }>('SELECT * FROM accounts')
    return Object.fromEntries(rows.map(({ name, cents }) => [name, Number(cents)]))
  }

  async function done(): Promise<number> {
    const { rows } = await db!.query<{ n: string }>('SELECT count(*) AS n FROM letters_done')
    return Number(rows[0]!.n)
  }

  test('is there once, though its process is killed before and after each seventh commit (N-23)', async ({
    skip,
  }) => {
    skip(!bin, MISSING)
    const script = await bundle('test/conformance/mail-effects-life.ts', join(folder, 'life'))
    const [store, port] = [freshFile(), await freePort()]
    const live = (dies: string): ChildProcess => {
      return fork(script, [postgres!.host, store, String(port), dies], { stdio: 'inherit' })
    }
    const alice = await open({ id: 'alice', peers: { bank: `ws://127.0.0.1:${port}/mail` } })
    const COUNT = 40
    let sum = 0
    for (let cents = 1; cents <= COUNT; cents++) {
      sum += cents
      await alice.to('bank').post(Payment, { account: 'ada', cents })
    }
    let deaths = 0
    // Each life but the last has six payments behind it, or seven.
    for (; alice.queues()[0]!.waiting > 0; deaths++) {
      const life = live(['before', 'after'][deaths % 2]!)
      const died = once(life, 'exit')
      await Promise.race([died, drained(alice, 'bank')])
      if (life.exitCode === null && life.signalCode === null) {
        life.send('end')
        await died
      } else expect(life.signalCode).toBe('SIGKILL')
    }
    expect([deaths > 5, await sums(), await done()]).toEqual([true, { ada: sum }, COUNT])
  })

  test('waits while the database is away, and goes on in order when it is back (N-23)', async ({
    skip,
  }) => {
    skip(!bin, MISSING)
    await db!.query('TRUNCATE accounts, letters_done')
    const pool = new pg.Pool({ host: postgres!.host, user: 'postgres' })
    const bank = await open({ id: 'bank', types: [Payment], listen: { port: 0 } })
    payInto(pool, bank)
    const alice = await open({ id: 'alice', peers: { bank: bank.url! } })
    await alice.to('bank').post(Payment, { account: 'ada', cents: 1 })
    await drained(alice, 'bank')
    await postgres!.stop()
    const threw = new Promise<void>((resolve) => bank.on('threw', () => resolve(), { once: true }))
    for (const cents of [10, 100]) await alice.to('bank').post(Payment, { account: 'ada', cents })
    await threw
    await postgres!.start()
    await drained(alice, 'bank')
    expect([await sums(), bank.dead()]).toEqual([{ ada: 111 }, []])
    await pool.end()
  })
})

test('a letter whose effect is behind HTTP has one key, however often it is sent (N-23)', async () => {
  const said: string[] = []
  const byKey = new Map<string, string>()
  let requests = 0
  const server = createServer((request: IncomingMessage, response) => {
    void textOf(request).then((body) => {
      const key = String(request.headers['idempotency-key'])
      const how = ++requests % 3
      // It is busy, or it does it and the answer is lost, or all goes well.
      if (how === 1) return response.writeHead(503).end()
      if (!byKey.has(key)) said.push((JSON.parse(body) as { words: string }).words)
      byKey.set(key, body)
      return how === 2 ? request.socket.destroy() : response.writeHead(204).end()
    })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const box = await open({ id: 'post office', types: [Notice], listen: { port: 0 } })
  sendTo(`http://127.0.0.1:${port}/`, box)
  const alice = await open({ id: 'älice', peers: { 'post office': box.url! } })
  const words = ['one', 'two', 'two', 'three']
  for (const each of words) {
    await alice.to('post office').post(Notice, { to: 'bob', words: each })
  }
  await drained(alice, 'post office')
  expect([said, byKey.size, requests]).toEqual([words, 4, 12])
  server.closeAllConnections()
  server.close()
})

test('the examples of effects are those of the recipe', () => {
  const read = (path: string): string =>
    readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')
  const recipe = 'docs/recipes/act-elsewhere-for-each-letter.md'
  for (const name of ['postgres', 'http']) {
    expect(read(recipe)).toContain(read(`games/examples/mailbox/${name}.ts`))
  }
})
