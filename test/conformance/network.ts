/**
 * A network of its own for a test: browsers find an address to share only where a route leads out,
 * and what one cuts there, nobody else misses.
 */

import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

/** A network namespace with a loopback, one other address, and a route that leads nowhere. */
export interface Network {
  /** Starts a program there. */
  start(command: string, args: readonly string[]): ChildProcess
  /** The same for a script of Node, which messages are exchanged with. */
  fork(script: string): ChildProcess
  /** A program that starts that one there. */
  program(command: string): string
  close(): void
}

const LINKS = [
  'ip link set lo up',
  'ip link add veth0 type veth peer name veth1',
  'ip address add 10.9.9.1/24 dev veth0',
  'ip link set veth0 up',
  'ip link set veth1 up',
  'ip route add default via 10.9.9.254',
]

/** Why this machine cannot have one; null if it can. */
export function noNetwork(): string | null {
  const probe = spawnSync('unshare', ['-rn', 'sh', '-ec', LINKS.join('\n')])
  return probe.status === 0 ? null : `no network namespaces here: ${probe.stderr?.toString()}`
}

export async function network(): Promise<Network> {
  const keeper = spawn(
    'unshare',
    ['-rn', 'sh', '-ec', `${LINKS.join('\n')}\necho ready\nexec cat`],
    {
      stdio: ['pipe', 'pipe', 'inherit'],
    },
  )
  const lines = createInterface({ input: keeper.stdout })
  await new Promise<void>((resolve, reject) => {
    lines.once('line', () => resolve())
    keeper.once('exit', () => reject(new Error('no network could be made')))
  })
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-network-'))
  const enter = ['-t', String(keeper.pid), '-U', '-n', '--preserve-credentials', '--wd=.']
  return {
    start: (command, args) =>
      spawn('nsenter', [...enter, command, ...args], { stdio: ['ignore', 'pipe', 'pipe'] }),
    fork: (script) =>
      spawn('nsenter', [...enter, process.execPath, script], {
        stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      }),
    program: (command) => {
      const path = join(folder, command.replaceAll('/', '-'))
      writeFileSync(path, `#!/bin/sh\nexec nsenter ${enter.join(' ')} ${command} "$@"\n`)
      chmodSync(path, 0o755)
      return path
    },
    close: () => {
      keeper.kill('SIGKILL')
      rmSync(folder, { recursive: true })
    },
  }
}
