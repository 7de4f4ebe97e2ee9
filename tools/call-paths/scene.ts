/**
 * Two members on real sockets, two mailboxes, and a persisted room: what is done there once, and
 * the stacks that carried it.
 */

import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join as joinPath } from 'node:path'
import { hub } from '../../packages/hub/src/index.ts'
import { type Mailbox, openMailbox } from '../../packages/mailbox/src/index.ts'
import {
  action,
  join,
  object,
  type ObjectHandle,
  type Session,
  u8,
} from '../../packages/holdfast/src/node.ts'
import { decode } from '../../packages/holdfast/src/wire/layout.ts'
import { readFrame } from '../../packages/holdfast/src/wire/relay.ts'
import { toHub } from '../../packages/holdfast/src/hub-protocol/messages.ts'
import { Trail, watchDisk, watchPart, watchSockets, watchStreams } from './probes.ts'
import type { Observed } from './stacks.ts'

/** The stacks of each path. */
export interface Paths {
  readonly datagram: readonly Observed[]
  readonly set: readonly Observed[]
  readonly act: readonly Observed[]
  readonly letter: readonly Observed[]
  readonly segment: readonly Observed[]
}

/** Follows each of the five once. Sockets on loopback only; all is closed in the end. */
export async function follow(): Promise<Paths> {
  const session = await withHub(null, play)
  const letter = await inFolder(followLetter)
  const segment = await inFolder(followSegment)
  return { ...session, letter, segment }
}

const GAME = 'rooms'

/** Waits for what sockets bring. */
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setImmediate(resolve))
}

/** What is to be noted while it is looked for, and nothing before. */
interface Watch {
  datagram: Trail | null
  set: Trail | null
  act: Trail | null
  /** The writer's part has just filled a packet: the next that leaves has the change. */
  wrote: boolean
  /** The call is under way: what leaves leaves for it. */
  acts: boolean
}

async function inFolder<Result>(run: (folder: string) => Promise<Result>): Promise<Result> {
  const folder = mkdtempSync(joinPath(tmpdir(), 'holdfast-rooms-'))
  try {
    return await run(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function withHub<Result>(
  store: string | null,
  run: (url: string, members: Session[]) => Promise<Result>,
): Promise<Result> {
  const server = http.createServer()
  const opened = hub({ server, store, report: () => {} })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}/hub`
  const members: Session[] = []
  try {
    return await run(url, members)
  } finally {
    for (const member of members) await member.leave()
    await opened.close()
    await new Promise((resolve) => server.close(resolve))
  }
}

type SessionPaths = Pick<Paths, 'datagram' | 'set' | 'act'>

async function play(url: string, members: Session[]): Promise<SessionPaths> {
  const watch: Watch = { datagram: null, set: null, act: null, wrote: false, acts: false }
  const Rock = object('rock', { weight: u8 })
  const lift = action('lift', { by: u8 }, (_table, { by }) => {
    watch.act?.note('at the action')
    return by
  })
  const ofReader = watchPart(Rock, (verb, before) => {
    if (before && verb === 'read') watch.datagram?.note('in the part', 'objects')
  })
  const ofWriter = watchPart(Rock, (verb, before, gave) => {
    if (verb !== 'write' || before || gave !== true) return
    watch.set?.note('in the part', 'objects')
    watch.wrote = true
  })
  const one = { game: GAME, server: url, name: 'Ada' }
  const reader = await join({ ...one, types: [ofReader, lift] })
  members.push(reader)
  const writer = await join({ ...one, name: 'Grace', types: [ofWriter, lift] })
  members.push(writer)
  const rock = writer.create(ofWriter, { weight: 1 })
  const shown = (): ObjectHandle | undefined => [...reader.all(ofReader)][0]
  await until(() => shown()?.state['weight'] === 1 && writer.debug.figures().path === 'direct')
  const stop = watchSockets(() => {
    if (watch.wrote) watch.set?.note('at the socket')
    watch.wrote = false
    if (watch.acts) watch.act?.note('at the socket')
  })
  try {
    const { datagram, set } = await followSet(watch, () => rock.set({ weight: 2 }), shown()!)
    return { datagram, set, act: await followAct(watch, () => writer.act(lift, { by: 2 })) }
  } finally {
    stop()
  }
}

// A change that leaves, and the datagram with it until the other side's listener.
async function followSet(
  watch: Watch,
  set: () => void,
  seen: ObjectHandle,
): Promise<{ datagram: readonly Observed[]; set: readonly Observed[] }> {
  const datagram = (watch.datagram = new Trail())
  const change = (watch.set = new Trail())
  const stop = seen.on('changed', () => datagram.note('at the listener'))
  change.note('at the call', 'join')
  set()
  await until(() => datagram.saw('at the listener') && change.saw('at the socket'))
  stop()
  watch.datagram = watch.set = null
  return { datagram: datagram.stacks, set: change.stacks }
}

// It leaves before the call returns; the action runs on the primary.
async function followAct(watch: Watch, act: () => Promise<unknown>): Promise<readonly Observed[]> {
  const trail = (watch.act = new Trail())
  trail.note('at the call', 'join')
  watch.acts = true
  const done = act()
  watch.acts = false
  await done
  watch.act = null
  return trail.stacks
}

async function followLetter(folder: string): Promise<readonly Observed[]> {
  const trail = new Trail()
  const store = (id: string): string => joinPath(folder, `${id}.db`)
  const boxes: Mailbox[] = []
  try {
    const bob = await openMailbox({ id: 'bob', store: store('bob'), listen: { port: 0 } })
    boxes.push(bob)
    const peers = { bob: bob.url! }
    const alice = await openMailbox({ id: 'alice', store: store('alice'), peers })
    boxes.push(alice)
    bob.on('letter', () => trail.note('at the handler'))
    await alice.to('bob').post({ text: 'hello' })
    await until(() => trail.saw('at the handler'))
    return trail.stacks
  } finally {
    for (const box of boxes) await box.close()
  }
}

// What the primary of a persisted room sends to the hub, and the hub's write of it.
async function followSegment(folder: string): Promise<readonly Observed[]> {
  const trail = new Trail()
  const lift = action('lift', { by: u8 }, (table, { by }) => table.set('by', by))
  const stops = [
    watchStreams((message) => {
      const frame = readFrame(message)
      const said = frame?.kind === 'message' ? decode(toHub, frame.bytes) : null
      if (said?.kind === 'keep') trail.note('at the stream')
    }),
    // The store takes the function that syncs when it opens.
    watchDisk(() => {
      if (trail.saw('at the stream')) trail.note('at the disk')
    }),
  ]
  try {
    return await withHub(joinPath(folder, 'hub.db'), async (server, members) => {
      const wanted = { game: GAME, server, name: 'Ada', types: [lift], keepRoom: '1d' } as const
      const session = await join(wanted)
      members.push(session)
      await session.act(lift, { by: 2 })
      await until(() => trail.saw('at the disk'))
      return trail.stacks
    })
  } finally {
    for (const stop of stops) stop()
  }
}
