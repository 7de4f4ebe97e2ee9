/**
 * A bank whose payments go into PostgreSQL, by the example of the guide; it kills itself at its
 * seventh payment, before or after the database has it. Usage: HOST STORE PORT before|after|never
 */

import pg from 'pg'
import { Payment, payInto } from '../../games/examples/mailbox/postgres.ts'
import { openMailbox } from '../../packages/mailbox/src/index.ts'

const LAST = 7

const [host, store, port, dies] = process.argv.slice(2) as [string, string, string, string]
const pool = new pg.Pool({ host, user: 'postgres' })
let commits = 0

function die(when: string): void {
  if (dies === when && commits === LAST) process.kill(process.pid, 'SIGKILL')
}

pool.on('connect', (client) => {
  const query = client.query.bind(client) as (...given: unknown[]) => Promise<unknown>
  const watched = async (...given: unknown[]): Promise<unknown> => {
    const isCommit = given[0] === 'COMMIT'
    if (isCommit) commits++
    if (isCommit) die('before')
    const result = await query(...given)
    if (isCommit) die('after')
    return result
  }
  Object.assign(client, { query: watched })
})

const bank = await openMailbox({
  id: 'bank',
  store,
  types: [Payment],
  listen: { port: Number(port) },
})
payInto(pool, bank)
process.on('message', () => {
  void bank.close().then(async () => {
    await pool.end()
    process.disconnect()
  })
})
process.send!(bank.url)
