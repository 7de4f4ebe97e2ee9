/**
 * One member in a process of its own.
 *
 *     node member.js URL ECHO_PORT direct|relayed primary|owner|viewer
 *
 * The owner acts at random moments: it sets the number of the action in its object, and sends the
 * same number over a plain WebSocket. The viewer looks at both 60 times a second, as a game does
 * that draws, and notes when each number came and when it was first seen.
 */

import WebSocket from 'ws'
import { join, object, type Session, u32, vec2 } from '../../packages/holdfast/src/node.ts'
import { clock } from '../processes/clock.ts'
import type { Asked, Instant, Role, Said, Seen, Way } from './words.ts'

const [url, echoPort, way, role] = process.argv.slice(2) as [string, string, Way, Role]
process.on('disconnect', () => process.exit())

const FRAME_MS = 1000 / 60
// Between two actions, at random: no frame is preferred.
const GAP_MS = [30, 70] as const

const Pot = object(
  'pot',
  { pos: vec2(-64, 64, 0.01), vel: vec2(-20, 20, 0.05), n: u32 },
  { motion: { follow: { pos: 'vel' } } },
)
const session = await join({
  game: 'latency',
  // Killed members keep their room shut for a while, so each way has a room of its own.
  room: way,
  name: role,
  types: [Pot],
  server: url,
  udp: way === 'direct' ? {} : null,
})
const echo = new WebSocket(`ws://127.0.0.1:${echoPort}`, { perMessageDeflate: false })
await new Promise((resolve) => echo.once('open', resolve))

function say(said: Said): void {
  process.send?.(said)
}

function asked(what: Asked, run: () => void): void {
  process.on('message', (message) => message === what && run())
}

function act(): void {
  const pot = session.create(Pot, { vel: [3, 0] })
  const instants: Instant[] = []
  const next = (): void => {
    const n = instants.length + 1
    const bytes = Buffer.alloc(4)
    bytes.writeUInt32BE(n)
    const place = ((n / 100) % 100) - 50
    // They take turns in being first, for each costs the other a moment.
    if (n % 2 === 0) echo.send(bytes)
    instants.push([n, clock()])
    pot.set({ pos: [place, 0], n })
    if (n % 2 === 1) echo.send(bytes)
    timer = setTimeout(next, GAP_MS[0] + Math.random() * (GAP_MS[1] - GAP_MS[0]))
  }
  let timer: NodeJS.Timeout
  asked('begin', next)
  asked('end', () => {
    clearTimeout(timer)
    say({ kind: 'acted', path: session.debug.figures().path, instants })
  })
}

function watch(): void {
  const held: Seen = { came: [], shown: [] }
  const bare: Seen = { came: [], shown: [] }
  const note = (list: Instant[], n: number): void => {
    if (n > (list.at(-1)?.[0] ?? 0)) list.push([n, clock()])
  }
  session.all(Pot).subscribe(() => note(held.came, newest(session)))
  echo.on('message', (bytes: Buffer) => note(bare.came, bytes.readUInt32BE()))
  let frames = 0
  const start = clock()
  const draw = (): void => {
    for (const pot of session.all(Pot)) note(held.shown, pot.view().n)
    note(bare.shown, bare.came.at(-1)?.[0] ?? 0)
    frames = Math.max(frames + 1, Math.ceil((clock() - start) / FRAME_MS))
    setTimeout(draw, start + frames * FRAME_MS - clock())
  }
  draw()
  asked('end', () => {
    // What is on the way may come.
    const { path } = session.debug.figures()
    setTimeout(() => say({ kind: 'saw', path, held, bare, ages: session.debug.ages() }), 500)
  })
}

function newest(from: Session): number {
  return Math.max(0, ...from.all(Pot).map((pot) => pot.state.n))
}

if (role === 'owner') act()
if (role === 'viewer') watch()
say({ kind: 'joined' })
