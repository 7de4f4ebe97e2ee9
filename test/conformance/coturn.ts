/** A coturn of a test's own, by the file of docs/deploy. */

import { type ChildProcess, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { adapted } from '../e2e/proxies.ts'

/** What to say where it is missing; null where it is not. */
export function noCoturn(): string | null {
  const found = spawnSync('which', ['turnserver']).status === 0
  return found ? null : 'coturn is not here: apt-get install --no-install-recommends coturn'
}

/** That of the server, and of a hub beside it. */
export const SECRET = '0123456789abcdef0123456789abcdef'

/** One that runs. */
export interface Coturn {
  readonly url: string
  /** Resolves with the users of these lines of its log, once there are so many different ones. */
  users(what: string, count: number): Promise<string[]>
  end(): Promise<void>
}

/**
 * Starts one at that address.
 *
 * @param start  starts a program
 */
export async function startCoturn(
  start: (command: string, args: string[]) => ChildProcess,
  host: string,
  port: number,
): Promise<Coturn> {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-coturn-'))
  const file = join(folder, 'turnserver.conf')
  const more = [`listening-ip=${host}`, `relay-ip=${host}`, 'allow-loopback-peers', 'verbose']
  const own = [`pidfile=${folder}/pid`, `userdb=${folder}/db`, 'log-file=stdout', 'simple-log']
  const text = adapted('turnserver.conf', {
    'REPLACE-WITH-YOUR-SECRET': SECRET,
    'listening-port=3478': `listening-port=${port}`,
    // Where the tests are.
    'denied-peer-ip=10.0.0.0-10.255.255.255': '',
  })
  writeFileSync(file, [text, ...more, ...own].join('\n'))
  const child = start('turnserver', ['-c', file])
  const lines: string[] = []
  const listeners = new Set<() => void>()
  createInterface({ input: child.stdout! }).on('line', (line) => {
    lines.push(line)
    for (const look of listeners) look()
  })
  child.stderr?.resume()
  const when = <T>(find: () => T | null): Promise<T> => {
    return new Promise((resolve, reject) => {
      const look = (): void => {
        const found = find()
        if (found === null) return
        listeners.delete(look)
        resolve(found)
      }
      listeners.add(look)
      child.once('exit', (code) =>
        reject(new Error(`coturn ended with ${code}: ${lines.join('\n')}`)),
      )
      look()
    })
  }
  await when(() => (lines.some((line) => line.includes('Total General servers')) ? true : null))
  return {
    url: `turn:${host}:${port}`,
    users: (what, count) => {
      return when(() => {
        const said = lines.filter((line) => line.includes(what))
        const users = new Set(said.flatMap((line) => /user <([^>]*)>/.exec(line)?.[1] ?? []))
        return users.size >= count ? [...users] : null
      })
    },
    end: async () => {
      child.kill('SIGKILL')
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
      rmSync(folder, { recursive: true })
    },
  }
}
