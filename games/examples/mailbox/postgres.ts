import { letter, type Mailbox, text, u32 } from 'holdfast/mailbox'
import type { Pool } from 'pg'

export const Payment = letter('payment', { account: text(40), cents: u32 })

export const TABLES = `
  CREATE TABLE IF NOT EXISTS letters_done (id text PRIMARY KEY, at timestamptz DEFAULT now());
  CREATE TABLE IF NOT EXISTS accounts (name text PRIMARY KEY, cents bigint NOT NULL)`

export function payInto(pool: Pool, bank: Mailbox): void {
  // A connection that breaks while it is idle: the next payment gets another one.
  pool.on('error', () => {})
  bank.handleAsync(Payment, async ({ id, body: { account, cents } }) => {
    const db = await pool.connect()
    let broken = true
    try {
      await db.query('BEGIN')
      // The same letter again: it was paid, and only its acknowledgement was lost.
      const isNew = 'INSERT INTO letters_done (id) VALUES ($1) ON CONFLICT DO NOTHING'
      const { rowCount } = await db.query(isNew, [id])
      const pay = `INSERT INTO accounts VALUES ($1, $2)
        ON CONFLICT (name) DO UPDATE SET cents = accounts.cents + excluded.cents`
      if (rowCount === 1) await db.query(pay, [account, cents])
      await db.query('COMMIT')
      broken = false
    } finally {
      // What throws is tried again, and letters behind it wait. This connection is used no more.
      db.release(broken)
    }
  })
}
