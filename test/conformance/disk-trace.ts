/** What `discard.c` wrote down of a process, and what a disk would have of it. */

import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'

/** One thing that a process did to a file. */
export interface Step {
  /** W write, T truncate, S sync, U unlink. */
  what: string
  path: string
  offset: number
  data: Buffer
}

/** The steps of a trace, in order. */
export function stepsOf(trace: Buffer): Step[] {
  const steps: Step[] = []
  const number = (at: number): number => Number(trace.readBigUInt64LE(at))
  for (let at = 0; at < trace.length;) {
    const what = String.fromCharCode(trace[at]!)
    const path = trace.toString('utf8', at + 9, at + 9 + number(at + 1))
    at += 9 + number(at + 1)
    const length = number(at + 8)
    steps.push({ what, path, offset: number(at), data: trace.subarray(at + 16, at + 16 + length) })
    at += 16 + (what === 'W' ? length : 0)
  }
  return steps
}

/** A disk that keeps what was synced, and of the rest what chance lets it. */
export class Disk {
  readonly #files = new Map<string, Buffer>()
  /** What was done and not yet synced, in order. */
  loose: Step[] = []

  take(step: Step): void {
    if (step.what === 'U') this.#files.delete(step.path)
    if (step.what === 'U') this.loose = this.loose.filter(({ path }) => path !== step.path)
    else if (step.what !== 'S') this.loose.push(step)
    else {
      for (const one of this.loose) if (one.path === step.path) apply(this.#files, one)
      this.loose = this.loose.filter(({ path }) => path !== step.path)
    }
  }

  /** Its files, if it did these of what was not synced. */
  image(done: readonly Step[]): Map<string, Buffer> {
    const files = new Map(this.#files)
    for (const step of done) apply(files, step)
    return files
  }
}

function apply(files: Map<string, Buffer>, { what, path, offset, data }: Step): void {
  const before = files.get(path) ?? Buffer.alloc(0)
  const length = what === 'T' ? offset : Math.max(before.length, offset + data.length)
  const after = Buffer.alloc(length)
  before.copy(after, 0, 0, length)
  if (what === 'W') data.copy(after, offset)
  files.set(path, after)
}

/**
 * Writes a SQLite store of an image into a folder of its own and looks at it.
 *
 * @param store its path, which the image may not have
 * @param look  gets the path of the copy
 */
export function withImage<Found>(
  files: ReadonlyMap<string, Buffer>,
  folder: string,
  store: string,
  look: (copy: string) => Found,
): Found {
  mkdirSync(folder)
  try {
    for (const path of [store, `${store}-wal`]) {
      const data = files.get(path)
      if (data) writeFileSync(join(folder, basename(path)), data)
    }
    return look(join(folder, basename(store)))
  } finally {
    rmSync(folder, { recursive: true })
  }
}
