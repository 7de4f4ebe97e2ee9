/** Spin on a model: its verifier is made in C, compiled, and run on one core. */

import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** What Spin says of a model. */
export interface Verified {
  version: string
  states: number
  edges: number
  seconds: number
}

/** Verifies a model; null where spin or a C compiler is missing. */
export function verify(promela: string): Verified | null {
  if (!has('spin', '-V') || !has('cc', '--version')) return null
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-spin-'))
  const run = (command: string, ...args: string[]): string =>
    execFileSync(command, args, { cwd: folder, encoding: 'utf8' })
  try {
    writeFileSync(join(folder, 'model.pml'), promela)
    run('spin', '-a', 'model.pml')
    run('cc', '-O2', '-DSAFETY', '-DMEMLIM=8192', '-o', 'pan', 'pan.c')
    return read(run(join(folder, 'pan'), '-m10000000', '-w24'))
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function has(command: string, ask: string): boolean {
  try {
    execFileSync(command, [ask], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

function read(told: string): Verified {
  const number = (line: RegExp): number => Number(line.exec(told)?.[1])
  if (number(/errors: (\d+)/) !== 0) throw new Error(`spin found an error:\n${told}`)
  return {
    version: /Spin Version ([\d.]+)/.exec(told)?.[1] ?? '',
    states: number(/(\d+) states, stored/),
    edges: number(/(\d+) transitions/),
    seconds: number(/elapsed time ([\d.]+) seconds/),
  }
}
