/**
 * A note beside a store about what its process is doing. It is not synced, so it survives the
 * process but not the machine, and costs two microseconds. The next process that opens the store
 * learns from it that this one died, and in which letter.
 */

import { closeSync, existsSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs'

/** Length of every note, in bytes; a shorter one would leave the end of a longer one behind. */
const NOTE_BYTES = 128

/** See the head of this file. */
export class Note {
  /** The note that was found; null if there was none. */
  readonly found: string | null
  readonly #path: string
  readonly #bytes = Buffer.alloc(NOTE_BYTES)
  #descriptor: number | null = null

  constructor(path: string) {
    this.#path = path
    this.found = existsSync(path) ? readFileSync(path, 'utf8').trim() : null
  }

  /** Replaces the note. A disk without room for it is no reason to stop. */
  write(what: string): void {
    try {
      this.#descriptor ??= openSync(this.#path, 'w')
      this.#bytes.fill(0x20)
      this.#bytes.write(what)
      writeSync(this.#descriptor, this.#bytes, 0, NOTE_BYTES, 0)
    } catch {
      // Then a process that dies in a handler is not counted.
    }
  }

  /** No letter is handled any more. A note that was not written here is left alone. */
  remove(): void {
    if (this.#descriptor === null) return
    closeSync(this.#descriptor)
    this.#descriptor = null
    rmSync(this.#path, { force: true })
  }
}
