/** A disk of its own for a test: it fills, is freed again, and outlives the processes on it. */

import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { appendFileSync, existsSync, rmSync, writeFileSync } from 'node:fs'
import { createInterface } from 'node:readline'

/** Where processes on it find the disk. */
export const PLACE = '/mnt'

/** A file system in a mount namespace. */
export interface SmallDisk {
  /** The same place as others see it; not for SQLite, which takes its links for plain ones. */
  readonly path: string
  /** Takes all the room there is. */
  fill(): void
  free(): void
  /** Starts a program that sees the disk at PLACE. */
  start(command: string, args: readonly string[]): ChildProcess
  /** The same for a script of Node, which messages are exchanged with. */
  fork(script: string): ChildProcess
  close(): void
}

/** Why this machine cannot have one; null if it can. */
export function noSmallDisk(): string | null {
  const probe = spawnSync('unshare', ['-rm', 'sh', '-c', `mount -t tmpfs none ${PLACE}`])
  return probe.status === 0 ? null : 'no mount namespaces here'
}

/** Makes one. @param size as `mount` takes it, such as `1m` */
export async function smallDisk(size: string): Promise<SmallDisk> {
  const script = `mount -t tmpfs -o size=${size} none ${PLACE} && echo ready && exec cat`
  const keeper = spawn('unshare', ['-rm', 'sh', '-c', script], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const lines = createInterface({ input: keeper.stdout })
  await new Promise<void>((resolve, reject) => {
    lines.once('line', () => resolve())
    keeper.once('exit', () => reject(new Error('no disk could be made')))
  })
  const path = `/proc/${keeper.pid}/root${PLACE}`
  const filler = `${path}/filler`
  const enter = ['-t', String(keeper.pid), '-U', '-m', '--preserve-credentials', '--wd=.']
  return {
    path,
    fill: () => fillTo(filler),
    free: () => rmSync(filler, { force: true }),
    start: (command, args) =>
      spawn('nsenter', [...enter, command, ...args], { stdio: ['ignore', 'pipe', 'pipe'] }),
    fork: (script) =>
      spawn('nsenter', [...enter, process.execPath, script], {
        stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      }),
    close: () => void keeper.kill('SIGKILL'),
  }
}

function fillTo(file: string): void {
  if (!existsSync(file)) writeFileSync(file, '')
  for (const bytes of [64 * 1024, 4096, 512, 1]) {
    try {
      for (;;) appendFileSync(file, Buffer.alloc(bytes))
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'ENOSPC')) throw error
    }
  }
}
