/**
 * A note beside a store that names the letter its process is handling. It is not synced, so it
 * survives a crash of the process but not of the machine, and costs two microseconds. The next
 * process reads from it that this one crashed, and in which letter.
 */

import { closeSync, existsSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs'

/** Fixed length of a note, in bytes, so a short note fully overwrites a longer one. */
const NOTE_BYTES = 128

export class Note {
  /** The note of a crashed process; null if there was none. */
  readonly found: string | null
  readonly #path: string
  readonly #bytes = Buffer.alloc(NOTE_BYTES)
  #descriptor: number | null = null

  constructor(path: string) {
    this.#path = path
    this.found = existsSync(path) ? readFileSync(path, 'utf8').trim() : null
  }

  /** Replaces the note. A full disk is ignored. */
  write(what: string): void {
    try {
      this.#descriptor ??= openSync(this.#path, 'w')
      this.#bytes.fill(0x20)
      this.#bytes.write(what)
      writeSync(this.#descriptor, this.#bytes, 0, NOTE_BYTES, 0)
    } catch {
      // A crash in this handler will not be counted.
    }
  }

  remove(): void {
    if (this.#descriptor === null) return
    closeSync(this.#descriptor)
    this.#descriptor = null
    rmSync(this.#path, { force: true })
  }
}
