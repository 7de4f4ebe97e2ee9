/** A PostgreSQL of a test's own: on a socket in a folder of its own, with nothing in it. */

import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

/** Where Debian puts the programs of each version. */
const DEBIAN = '/usr/lib/postgresql'

/** What to say where it is missing. */
export const MISSING = 'PostgreSQL is not here: apt-get install postgresql'

/** The folder of its programs; null where it is not installed. */
export function programs(): string | null {
  const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN) : []
  const folders = versions.toSorted((a, b) => Number(b) - Number(a))
  const found = folders.map((version) => join(DEBIAN, version, 'bin'))
  const onPath = spawnSync('which', ['initdb'], { encoding: 'utf8' }).stdout.trim()
  if (onPath !== '') found.push(join(onPath, '..'))
  return found.find((bin) => existsSync(join(bin, 'initdb'))) ?? null
}

/** It refuses to run for root. */
function user(): { uid: number; gid: number } | null {
  if (process.getuid!() !== 0) return null
  const idOf = (what: string): number => Number(execFileSync('id', [what, 'postgres']))
  return { uid: idOf('-u'), gid: idOf('-g') }
}

/** One that a test started. */
export class Postgres {
  /** The folder of its socket, as a client takes it for a host. */
  readonly host: string
  readonly #bin: string
  readonly #as: { uid: number; gid: number } | null
  #process: ChildProcess | null = null

  constructor(bin: string) {
    this.#bin = bin
    this.#as = user()
    this.host = mkdtempSync(join(tmpdir(), 'holdfast-pg-'))
    if (this.#as) chmodSync(this.host, 0o777)
    const words = ['-D', join(this.host, 'data'), '-A', 'trust', '-U', 'postgres', '-E', 'UTF8']
    const run = { ...this.#as, stdio: 'pipe', cwd: this.host } as const
    execFileSync(join(bin, 'initdb'), [...words, '--no-sync', '--locale', 'C'], run)
  }

  async start(): Promise<void> {
    const words = ['-D', join(this.host, 'data'), '-k', this.host, '-c', 'listen_addresses=']
    const server = spawn(join(this.#bin, 'postgres'), [...words, '-F'], {
      ...this.#as,
      cwd: this.host,
      env: { ...process.env, LC_ALL: 'C' },
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    this.#process = server
    const lines: string[] = []
    await new Promise<void>((resolve, reject) => {
      createInterface({ input: server.stderr! }).on('line', (line) => {
        lines.push(line)
        if (line.includes('ready to accept connections')) resolve()
      })
      server.once('exit', () => reject(new Error(`it did not start:\n${lines.join('\n')}`)))
    })
  }

  /** All connections break. */
  async stop(): Promise<void> {
    const server = this.#process
    if (!server || server.exitCode !== null) return
    server.kill('SIGINT')
    await once(server, 'exit')
  }

  async remove(): Promise<void> {
    await this.stop()
    rmSync(this.host, { recursive: true, force: true })
  }
}
