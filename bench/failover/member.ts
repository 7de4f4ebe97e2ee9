/**
 * One member in a process of its own: it acts all the time, one operation after the other.
 *
 *     node member.js URL LEDGER EVERY_MS watch|deaf
 *
 * Each operation counts its own number into the table, so that the table itself shows what was
 * lost and what happened twice. What was acknowledged is written to the ledger, a file that
 * outlives the process: the kernel has the bytes when the call returns.
 */

import { openSync, writeSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { action, join } from '../../packages/holdfast/src/node.ts'
import type { InternalSession } from '../../packages/holdfast/src/join/session-impl.ts'
import type { MemberEvent } from '../../packages/holdfast/src/member/state.ts'
import { clock } from '../processes/clock.ts'
import type { Asked, Figures, Row, Said } from './words.ts'

const [url, ledger, everyText, ears] = process.argv.slice(2) as [string, string, string, string]
const every = Number(everyText)
process.on('disconnect', () => process.exit())

const count = action('count', (table, { n }: { n: number }, by) => {
  const key = `player ${by.player}`
  const row = rowOf(by.player, String(table.get(key) ?? '0 0 0'))
  const { last } = row
  const doubled = row.doubled + (n <= last ? 1 : 0)
  const missing = row.missing + Math.max(0, n - last - 1)
  table.set(key, `${Math.max(n, last)} ${doubled} ${missing}`)
  return n
})

function rowOf(player: number, text: string): Row {
  const [last = 0, doubled = 0, missing = 0] = text.split(' ').map(Number)
  return { player, last, doubled, missing }
}

const session = (await join({
  game: 'failover',
  name: `process ${process.pid}`,
  types: [count],
  server: url,
  udp: { watch: ears === 'watch' },
})) as InternalSession

let acked = 0
let resting = false
let led = session.primary?.inc ?? 0
// The new primary has acknowledged nothing of ours yet.
let fresh = false

function say(said: Said): void {
  process.send?.(said)
}

// In the order in which they happened, unlike the promises that they settle.
const told = session.onEvent.bind(session)
session.onEvent = (event: MemberEvent): void => {
  note(event)
  told(event)
}

function note(event: MemberEvent): void {
  if (event.kind === 'role') say({ kind: 'role', role: event.role, at: clock() })
  if (event.kind === 'view' && event.view.primary !== led) {
    led = event.view.primary
    fresh = true
    say({ kind: 'led', epoch: event.view.epoch, primary: led, at: clock() })
  }
  if (event.kind === 'done' && fresh) {
    fresh = false
    say({ kind: 'served', epoch: session.debug.figures().epoch, at: clock() })
  }
}

function figures(): Figures {
  const { epoch, role, suspectMs } = session.debug.figures()
  const { user, system } = process.cpuUsage()
  return {
    inc: session.me.inc,
    epoch,
    primary: session.primary?.inc ?? 0,
    backup: session.backup?.inc ?? 0,
    members: session.members.length,
    role,
    suspectMs,
    acked,
    cpuMs: (user + system) / 1000,
  }
}

function rows(): Row[] {
  return session.table
    .keys('player ')
    .map((key) => rowOf(Number(key.slice(7)), String(session.table.get(key))))
}

async function act(): Promise<void> {
  const file = openSync(ledger, 'w')
  const entry = new Float64Array(2)
  while (!resting) {
    const issued = clock()
    const outcome = await session.act(count, { n: acked + 1 })
    if (!outcome.ok || outcome.value !== acked + 1) throw new Error(`${JSON.stringify(outcome)}`)
    acked++
    entry.set([session.me.player, acked])
    writeSync(file, entry, 0, entry.byteLength, 0)
    await pause(Math.max(0, issued + every - clock()))
  }
  // What the others did last is on its way to our table.
  await pause(500)
  say({ kind: 'rested', acked, rows: rows() })
}

process.on('message', (asked: Asked) => {
  if (asked === 'rest') resting = true
  else say({ kind: 'figures', figures: figures() })
})
say({ kind: 'in', inc: session.me.inc, player: session.me.player })
if (every > 0) await act()
