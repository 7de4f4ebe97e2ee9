/**
 * Transcripts in test/transcripts/*.txt: what a run said when somebody last read it. With
 * UPDATE=1 in the environment they are rewritten; commit a change only if you understand it.
 */

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { difference, toText } from '../src/sim/transcript.ts'

const FOLDER = new URL('./transcripts/', import.meta.url)

/** Compares lines with the file of that name. @throws Error that shows where they differ first */
export function compareTranscript(
  name: string,
  lines: readonly string[],
  update = process.env['UPDATE'] === '1',
): void {
  const file = new URL(`${name}.txt`, FOLDER)
  const actual = toText(lines)
  if (update) {
    mkdirSync(FOLDER, { recursive: true })
    writeFileSync(file, actual)
    return
  }
  const found = difference(read(file), actual)
  if (found) throw new Error(`${name}.txt: ${found}\nRewrite it with UPDATE=1 if that is right.`)
}

function read(file: URL): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
