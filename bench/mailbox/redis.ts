/** Redis that syncs its log at every write, spoken to over a socket, many commands at once. */

import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { adopt, end } from '../processes/children.ts'
import { BYTES, type Contender } from './contenders.ts'

const KEYS = 100
const BEHIND = 20

/** Its version, or null where it is not installed. */
export function redisVersion(): string | null {
  const { status, stdout } = spawnSync('redis-server', ['--version'], { encoding: 'utf8' })
  return status === 0 ? (/v=(\S+)/.exec(stdout)?.[1] ?? 'unknown') : null
}

/** Starts one in that folder. A delivery is a MULTI; so many are sent before any is waited for. */
export async function redis(folder: string, at: number): Promise<Contender> {
  const socketPath = join(folder, 'redis.sock')
  const words = ['--port', '0', '--unixsocket', socketPath, '--dir', folder, '--save', '']
  const always = ['--appendonly', 'yes', '--appendfsync', 'always', '--loglevel', 'warning']
  const child = adopt(spawn('redis-server', [...words, ...always], { stdio: 'ignore' }))
  const socket = await reached(socketPath)
  const body = Buffer.alloc(BYTES, 97)
  let n = 0
  const delivery = (): Buffer => {
    n++
    return Buffer.concat([
      command('MULTI'),
      command('SET', 'hi', `${n}`),
      command('SET', `k${n % KEYS}`, body),
      command('RPUSH', 'outbox', body, body),
      command('LTRIM', 'outbox', `-${BEHIND}`, '-1'),
      command('EXEC'),
    ])
  }
  return {
    name: `Redis, ${at} at once`,
    sync: 'appendfsync always',
    run: async () => {
      const done = replies(socket, at)
      socket.write(Buffer.concat(Array.from({ length: at }, delivery)))
      await done
      return at
    },
    close: async () => {
      socket.destroy()
      await end(child)
    },
  }
}

function command(...words: (string | Buffer)[]): Buffer {
  const parts = words.flatMap((word) => [
    Buffer.from(`$${Buffer.byteLength(word)}\r\n`),
    Buffer.from(word),
    Buffer.from('\r\n'),
  ])
  return Buffer.concat([Buffer.from(`*${words.length}\r\n`), ...parts])
}

async function reached(path: string): Promise<Socket> {
  for (let tries = 0; ; tries++) {
    const socket = connect(path)
    try {
      await once(socket, 'connect')
      return socket
    } catch (error) {
      if (tries > 100) throw error
      await pause(50)
    }
  }
}

/** Waits for the answers of so many EXECs: each is an array of four. */
function replies(socket: Socket, count: number): Promise<void> {
  return new Promise((resolve) => {
    let left = count
    const listen = (bytes: Buffer): void => {
      for (const byte of bytes) if (byte === 0x2a) left--
      if (left > 0) return
      socket.off('data', listen)
      resolve()
    }
    socket.on('data', listen)
  })
}
