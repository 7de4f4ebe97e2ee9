// Goal: what only moves code changes no byte of what goes over the wire, or onto the hub's disk.
// Method: sessions in virtual time, of a fixed seed; their messages as text, by room, held against
// test/data/captures. Who changes bytes runs with UPDATE=1, and says in the commit why.
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { RunningMailbox } from '../../packages/mailbox/src/mailbox.ts'
import { createMailMemory } from '../../packages/mailbox/src/drivers/mail-memory.ts'
import { createWorld } from '../../packages/sim/src/world.ts'
import { LIFE_BYTES } from '../../packages/holdfast/src/wire/history.ts'
import { toHex } from '../hex.ts'
import { captureMesh, captureSession, TYPES } from './capture.ts'
import { readStandard } from './document.ts'
import { readCapture, type Sent } from './ledger.ts'
import { captureTable, PIECE_TYPES } from './pieces-capture.ts'
import { readWhole } from './reader.ts'
import type { Read } from './values.ts'
import { toyCurves } from '../../packages/sim/src/toy-ciphers.ts'
import { ownKey } from '../mailbox/handshakes.ts'

const FOLDER = 'test/data/captures'
/** So many of each kind are shown; the digest at the end is of all. */
const SHOWN = 3
/** So many bytes of a long message are shown. */
const BYTES_SHOWN = 96
const URL_OF_BOB = 'ws://bob/mail'

const standard = readStandard(readFileSync('docs/STANDARD.md', 'utf8'))

/** The rooms that messages belong to, by the names of the document. */
const ROOMS: Readonly<Record<string, string>> = {
  Packet: 'link',
  Seal: 'seal',
  Peer: 'session',
  Delta: 'session',
  Snapshot: 'session',
  Testimony: 'session',
  Join: 'session',
  Joined: 'session',
  Objects: 'objects',
  News: 'actions',
  Call: 'actions',
  Answer: 'actions',
  Row: 'actions',
  Rpc: 'rpc',
  Pieces: 'pieces',
  Update: 'pieces',
  PieceChange: 'pieces',
  PieceOutcome: 'pieces',
  Slots: 'slots',
  ToHub: 'directory',
  FromHub: 'directory',
  Stored: 'directory',
  Whole: 'session',
  Entries: 'session',
}

/** The messages of each room, in order, as lines. */
type Captures = Map<string, Room>

interface Room {
  lines: string[]
  count: number
  digest: ReturnType<typeof createHash>
  shown: Map<string, number>
}

function put(rooms: Captures, room: string, kind: string, from: string, bytes: Uint8Array): void {
  const fresh: Room = { lines: [], count: 0, digest: createHash('sha256'), shown: new Map() }
  const found = rooms.get(room) ?? fresh
  rooms.set(room, found)
  found.count++
  found.digest.update(`${kind} ${from} ${bytes.length} `).update(bytes)
  const times = (found.shown.get(kind) ?? 0) + 1
  found.shown.set(kind, times)
  if (times > SHOWN) return
  const more = bytes.length > BYTES_SHOWN ? `… of ${bytes.length} bytes` : ''
  found.lines.push(
    `${kind.padEnd(20)} ${from.padEnd(5)} ${toHex(bytes.slice(0, BYTES_SHOWN))}${more}`,
  )
}

function take(
  rooms: Captures,
  scene: string,
  sent: readonly Sent[],
  pieces: readonly string[],
): void {
  for (const { lines } of rooms.values()) lines.push('')
  const types = pieces.length > 0 ? [] : TYPES
  readCapture(standard, sent, types, pieces, (set, kind, node, bytes) => {
    put(rooms, ROOMS[set]!, `${scene} ${set} ${kind}`.trim(), node, bytes)
  })
}

/** Two mailboxes in virtual time: letters there, answers back. */
async function talk(rooms: Captures): Promise<void> {
  const sim = createWorld({ seed: 27, conditions: 'rtt=16', linesMax: 0 })
  const said = (from: string, bytes: Uint8Array): void => {
    const set = bytes[0]! >= 16 ? 'MailGreeting' : 'Mail'
    const { kind } = readWhole(standard, set, bytes) as Read
    put(rooms, 'mailbox', `${set} ${kind as string}`, from, bytes)
  }
  const boxes = new Map<string, RunningMailbox>()
  for (const [at, id] of ['bob', 'ada'].entries()) {
    sim.node(id, (node) => {
      const life = new Uint8Array(LIFE_BYTES).fill(at + 1)
      const identity = { keys: [ownKey(at + 1)], letter: null, curves: toyCurves }
      const box = new RunningMailbox({ ...node, store: createMailMemory(), life, identity }, { id })
      boxes.set(id, box)
      if (id === 'ada') return
      box.on('letter', (tx, from, body) => tx.post(from, { seen: body }))
      node.listen(URL_OF_BOB, (stream) => {
        const send = (bytes: Uint8Array): boolean => {
          said('bob', bytes)
          return stream.send(bytes)
        }
        const events = box.accept({ ...stream, send })
        const message = (bytes: Uint8Array): void => {
          said('ada', bytes)
          events.message(bytes)
        }
        return { ...events, message }
      })
    })
  }
  const ada = boxes.get('ada')!
  let heard = 0
  ada.on('letter', () => heard++)
  ada.connect('bob', URL_OF_BOB)
  for (let n = 1; n <= 20; n++) {
    void ada.to('bob').post({ n })
    if (n % 4 === 0) await sim.run(30)
  }
  expect(await sim.runUntil(() => heard === 20, 60_000)).toBe(true)
}

function textOf({ lines, count, digest }: Room): string {
  const all = `all ${count} messages, with those that are not shown: ${digest.digest('hex')}`
  return `${[...lines.filter((line, at) => line !== '' || lines[at + 1]), '', all].join('\n')}\n`
}

test('no byte of any room is another than when it was captured', async () => {
  const rooms: Captures = new Map()
  take(rooms, 'star', await captureSession(), [])
  take(rooms, 'mesh', await captureMesh(), [])
  take(rooms, 'table', (await captureTable()).sent, PIECE_TYPES)
  await talk(rooms)
  expect([...rooms.keys()].toSorted()).toEqual(
    [...new Set([...Object.values(ROOMS), 'mailbox'])].toSorted(),
  )
  mkdirSync(FOLDER, { recursive: true })
  const cure = 'if that is meant, UPDATE=1, and say in the commit why'
  for (const [room, messages] of rooms) {
    const now = textOf(messages)
    const file = `${FOLDER}/${room}.txt`
    if (process.env['UPDATE'] === '1') writeFileSync(file, now)
    expect(now.split('\n'), `${file}: ${cure}`).toEqual(readFileSync(file, 'utf8').split('\n'))
  }
}, 120_000)
