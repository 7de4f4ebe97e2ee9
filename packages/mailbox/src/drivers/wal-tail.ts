/**
 * Checks whether the journal of an SQLite file ends cleanly. SQLite silently drops an unreadable
 * tail, which may be a write that never returned. It may also be a committed write damaged since,
 * and then the owner should know.
 */

import { closeSync, existsSync, fstatSync, openSync, readSync } from 'node:fs'

const HEADER_BYTES = 32
const FRAME_HEADER_BYTES = 24
const MAGIC = 0x377f0682
/** Our journals stay far below this size; a larger one is not checked. */
const BYTES_MAX = 256 * 1024 * 1024

/** The fault at the end of the file's journal, as a sentence; null for none. */
export function walTrouble(path: string): string | null {
  const file = `${path}-wal`
  if (!existsSync(file)) return null
  const bytes = read(file)
  if (!bytes || bytes.length === 0) return null
  const frames = framesLeftOut(bytes)
  if (frames === 0) return null
  const what = frames === null ? 'its beginning' : `${frames} of its pages at the end`
  return (
    `the journal ${file} was cut short or damaged: ${what} cannot be read and were left out; ` +
    'a write that was under way when the machine stopped is no loss, others are'
  )
}

function read(file: string): Uint8Array | null {
  const descriptor = openSync(file, 'r')
  try {
    const { size } = fstatSync(descriptor)
    if (size > BYTES_MAX) return null
    const bytes = new Uint8Array(size)
    readSync(descriptor, bytes, 0, size, 0)
    return bytes
  } finally {
    closeSync(descriptor)
  }
}

/** Frames of this generation after the last valid one; null if the whole journal is invalid. */
function framesLeftOut(bytes: Uint8Array): number | null {
  const view = new DataView(bytes.buffer)
  if (bytes.length < HEADER_BYTES) return null
  const magic = view.getUint32(0)
  if ((magic & ~1) >>> 0 !== MAGIC) return null
  const isLittle = (magic & 1) === 0
  const sums = new Sums(view, isLittle)
  sums.add(0, 24)
  if (!sums.are(view.getUint32(24), view.getUint32(28))) return null
  const frame = FRAME_HEADER_BYTES + view.getUint32(8)
  let isWhole = true
  let leftOut = 0
  for (let at = HEADER_BYTES; at < bytes.length; at += frame) {
    if (at + frame > bytes.length) return leftOut + 1
    // Frames of an earlier generation may follow and do not count.
    const isOurs = view.getUint32(at + 8) === view.getUint32(16)
    if (!isOurs && isWhole) return 0
    if (isWhole) {
      sums.add(at, 8)
      sums.add(at + FRAME_HEADER_BYTES, frame - FRAME_HEADER_BYTES)
      isWhole = sums.are(view.getUint32(at + 16), view.getUint32(at + 20))
    }
    if (!isWhole && isOurs) leftOut++
  }
  return leftOut
}

/** The running checksum of a journal (sqlite.org/fileformat2.html, 4.2). */
class Sums {
  readonly #view: DataView
  readonly #isLittle: boolean
  #first = 0
  #second = 0

  constructor(view: DataView, isLittle: boolean) {
    this.#view = view
    this.#isLittle = isLittle
  }

  add(from: number, bytes: number): void {
    for (let at = from; at < from + bytes; at += 8) {
      this.#first = (this.#first + this.#view.getUint32(at, this.#isLittle) + this.#second) >>> 0
      this.#second =
        (this.#second + this.#view.getUint32(at + 4, this.#isLittle) + this.#first) >>> 0
    }
  }

  are(first: number, second: number): boolean {
    return this.#first === first && this.#second === second
  }
}
