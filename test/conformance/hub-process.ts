/** `holdfast serve` as a process of its own, and founders that talk to it by hand. */

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { resolve } from 'node:path'
import { WebSocket } from 'ws'
import {
  type FromHub,
  fromHub,
  HUB_VERSION,
  type ToHub,
  toHub,
} from '../../packages/holdfast/src/hub-protocol/messages.ts'
import { digest, proofOf } from '../../packages/holdfast/src/wire/digest.ts'
import { decode, encode } from '../../packages/holdfast/src/wire/layout.ts'
import { frameMessage, readFrame } from '../../packages/holdfast/src/wire/relay.ts'
import { PLACE, type SmallDisk } from './small-disk.ts'

// Tests and soaks begin in the root of the repository.
const PROGRAM = resolve('packages/holdfast/dist/cli/src/holdfast.js')

/** A hub that runs. */
export interface HubProcess {
  /** Such as `http://127.0.0.1:8700/`. */
  readonly url: string
  readonly pid: number
  /** What it wrote on standard error so far. */
  errors(): string
  isRunning(): boolean
  /** @returns the exit code; null if a signal ended it */
  kill(signal: 'SIGTERM' | 'SIGKILL'): Promise<number | null>
}

/** Starts one whose register lies on that disk. */
export function startHub(
  disk: SmallDisk,
  folder = '',
  more: readonly string[] = [],
): Promise<HubProcess> {
  const words = wordsOf(`${PLACE}${folder}/hub.db`)
  return follow(disk.start(process.execPath, [...words, ...more]))
}

/**
 * Starts one whose register lies in a folder.
 *
 * @param more  options besides
 * @param env   variables besides
 * @param port  0 for any
 */
export function startHubIn(
  folder: string,
  more: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
  port = 0,
): Promise<HubProcess> {
  const stdio = ['ignore', 'pipe', 'pipe'] as const
  const words = [...wordsOf(`${folder}/hub.db`, port), ...more]
  const options = { stdio: [...stdio], env: { ...process.env, ...env } }
  return follow(spawn(process.execPath, words, options))
}

const wordsOf = (data: string, port = 0): string[] => {
  return [PROGRAM, 'serve', '--port', String(port), '--data', data]
}

async function follow(child: ChildProcess): Promise<HubProcess> {
  let errors = ''
  child.stderr!.on('data', (bytes: Buffer) => (errors += bytes.toString()))
  const url = await urlOf(child, () => errors)
  return {
    url,
    pid: child.pid!,
    errors: () => errors,
    isRunning: () => child.exitCode === null && child.signalCode === null,
    kill: async (signal) => {
      const ended = once(child, 'exit')
      child.kill(signal)
      await ended
      return child.exitCode
    },
  }
}

function urlOf(child: ChildProcess, errors: () => string): Promise<string> {
  return new Promise((found, reject) => {
    createInterface({ input: child.stdout! }).on('line', (line) => {
      const url = /https?:\/\/\S+/.exec(line)?.[0]
      if (url !== undefined) found(url)
    })
    child.once('exit', (code) => reject(new Error(`the hub ended with ${code}: ${errors()}`)))
  })
}

type Question = Extract<ToHub, { request: number }>

/** A stream to a hub that said hello. */
export interface Founder {
  ask(message: Question): Promise<FromHub>
  /** Opens a room. @returns its session, or why not */
  found(room: string): Promise<{ session: string } | { why: string }>
  isOpen(): boolean
  close(): void
}

/** Of whoever founds. */
export const SECRET = new Uint8Array(16).fill(7)

const WISH = {
  ...({ playersMax: 8, recovers: false, topology: 'star', terms: '' } as const),
  hash: digest(proofOf(SECRET, 'register')),
  ...{ link: new Uint8Array(32), key: new Uint8Array(32) },
  ...{ hosts: false, ticket: '', fresh: false },
}

/** Dials the hub. */
export async function founder(url: string): Promise<Founder> {
  const stream = new WebSocket(new URL('/hub', url.replace('http', 'ws')))
  const waiting = new Map<number, (answer: FromHub) => void>()
  let requests = 0
  stream.on('error', () => {})
  stream.on('message', (bytes: Buffer) => {
    const frame = readFrame(new Uint8Array(bytes))
    const message = frame?.kind === 'message' ? decode(fromHub, frame.bytes) : null
    if (message && 'request' in message) waiting.get(message.request)?.(message)
  })
  await once(stream, 'open')
  const say = (message: ToHub): void => stream.send(frameMessage(encode(toHub, message)))
  say({ kind: 'hello', version: HUB_VERSION })
  const ask = (message: Question): Promise<FromHub> => {
    const request = ++requests
    return new Promise((answered, reject) => {
      const gone = (): void => reject(new Error('the hub closed the stream'))
      stream.once('close', gone)
      waiting.set(request, (answer) => {
        waiting.delete(request)
        stream.off('close', gone)
        answered(answer)
      })
      say({ ...message, request } as ToHub)
    })
  }
  return {
    ask,
    found: async (room) => {
      const answer = await ask({ kind: 'add', request: 0, game: 'g', room, ...WISH })
      if (answer.kind === 'added') return { session: answer.entry.session }
      return { why: answer.kind === 'refused' ? answer.why : answer.kind }
    },
    isOpen: () => stream.readyState === WebSocket.OPEN,
    close: () => stream.terminate(),
  }
}

/** Which of these sessions the hub does not know. */
export async function unknownTo(url: string, sessions: readonly string[]): Promise<string[]> {
  const missing: string[] = []
  let asker = await founder(url)
  for (const [at, session] of sessions.entries()) {
    // One stream may not ask for ever at once.
    if (at % 500 === 499) {
      asker.close()
      asker = await founder(url)
    }
    const answer = await asker.ask({ kind: 'get', request: 0, session })
    if (answer.kind !== 'register') missing.push(session)
  }
  asker.close()
  return missing
}
