/**
 * Players who are each alone in a room that a hub keeps, in a process of their own: what an
 * acknowledged operation takes, in turns with syncs of as many bytes as the hub writes for one; and
 * how many operations a second all together get.
 *
 *     node lone.js URL FOLDER HUB-PID
 */

import { closeSync, fdatasyncSync, openSync, readFileSync, writeSync } from 'node:fs'
import { join as pathOf } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { action, join, type Session, u32 } from '../../packages/holdfast/src/node.ts'
import type { BesideSync, LoneAsked, Together } from './words.ts'

const [, , server, folder, hub] = process.argv
/** Operations, or syncs, of one turn. */
const TURN = 50
/** Operations before it is measured, and by which it is measured what the hub writes for one. */
const WARM = 300
const BLOCK = 512
const PREALLOCATED = 16 * 1024 * 1024

const count = action('count', { n: u32 }, (table, { n }) => {
  table.set('count', Number(table.get('count') ?? 0) + 1)
  table.set('last', n)
})

const rooms: Session[] = []

async function open(many: number): Promise<void> {
  while (rooms.length < many) {
    const room = `lone ${rooms.length}`
    const wish = { game: 'bench', types: [count], operationsPerSecond: 10_000 }
    rooms.push(await join({ ...wish, keepRoom: '1d', room, server: server! }))
  }
}

async function act(session: Session): Promise<void> {
  const { ok } = await session.act(count, { n: 1 })
  if (!ok || session.safety !== 'kept') throw new Error(`not kept: ${session.safety}`)
}

/** Bytes that the hub has written so far, to whatever. */
function written(): number {
  const text = readFileSync(`/proc/${hub}/io`, 'latin1')
  return Number(/wchar: (\d+)/.exec(text)![1])
}

async function beside(turns: number): Promise<BesideSync> {
  await open(1)
  const [room] = rooms
  for (let at = 0; at < WARM; at++) await act(room!)
  const before = written()
  for (let at = 0; at < WARM; at++) await act(room!)
  const bytes = Math.ceil((written() - before) / WARM / BLOCK) * BLOCK
  const block = Buffer.alloc(bytes, 97)
  const appended = openSync(pathOf(folder!, 'appended'), 'a')
  const there = openSync(pathOf(folder!, 'preallocated'), 'w+')
  writeSync(there, Buffer.alloc(PREALLOCATED))
  fdatasyncSync(there)
  let at = 0
  const found: BesideSync = { bytes, turns: [] }
  for (let turn = 0; turn < turns; turn++) {
    found.turns.push({
      append: await timed(() => {
        writeSync(appended, block)
        fdatasyncSync(appended)
      }),
      overwrite: await timed(() => {
        writeSync(there, block, 0, bytes, at)
        at = (at + bytes) % (PREALLOCATED - bytes)
        fdatasyncSync(there)
      }),
      operation: await timed(() => act(room!)),
    })
  }
  closeSync(appended)
  closeSync(there)
  return found
}

/** The middle of a turn, in ms. */
async function timed(work: () => void | Promise<void>): Promise<number> {
  const times: number[] = []
  for (let at = 0; at < TURN; at++) {
    const start = performance.now()
    await work()
    times.push(performance.now() - start)
  }
  return times.toSorted((a, b) => a - b)[TURN >> 1]!
}

/** All act without a pause, each with one operation under way. */
async function together(many: number, ms: number): Promise<Together> {
  await open(many)
  let [done, isOver] = [0, false]
  const all = rooms.slice(0, many).map(async (room) => {
    while (!isOver) {
      await act(room)
      done++
    }
  })
  await pause(ms / 4)
  const [start, before] = [performance.now(), done]
  await pause(ms)
  const each = (done - before) / ((performance.now() - start) / 1_000)
  isOver = true
  await Promise.all(all)
  return { rooms: many, each }
}

process.on('disconnect', () => process.exit())
process.on('message', (asked: LoneAsked) => {
  const done = 'turns' in asked ? beside(asked.turns) : together(asked.rooms, asked.ms)
  done.then(
    (found) => process.send!({ found }),
    (error: unknown) => {
      console.error(error)
      process.exit(1)
    },
  )
})
process.send!({ ready: true })
