/** Tries changes, each in a process of its own and each within a bound of time. */

import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { createInterface } from 'node:readline'
import type { Source } from '../tidy/source.ts'
import type { Answer, Question } from './judge.ts'
import { batches } from './order.ts'
import type { Batch } from './order.ts'
import { reaching } from './reach.ts'
import type { Reach } from './reach.ts'
import { moduleOf } from './modules.ts'
import { find } from './sites.ts'
import type { Change } from './sites.ts'
import { best } from './verdict.ts'
import type { Outcome, Worth } from './verdict.ts'

/** What came of a change. */
export interface Trial {
  readonly change: Change
  readonly outcome: Outcome
  /** The test that said so; empty where none did. */
  readonly by: string
  readonly seconds: number
}

/** One change takes no longer, all tries together; nor is a judge silent for longer. */
const CHANGE_MS_MAX = 240_000
const SILENCE_MS = 60_000
/** Longest of one test of the judge: three times what the longest took on a calm machine. */
const TEST_MS = 45_000
/** How often it is tried again without the files in which it stood still. */
const TRIES_MAX = 3

const JUDGE = fileURLToPath(new URL('judge.js', import.meta.url))

interface Heard {
  worths: { worth: Worth; by: string }[]
  /** The file that a judge was in when it fell silent. */
  hung: string | null
  /** It came to its end. */
  done: boolean
}

/** Tries one. */
export async function tried(
  change: Change,
  sources: readonly Source[],
  reach: Reach,
): Promise<Trial> {
  const began = performance.now()
  const end = (outcome: Outcome, by: string): Trial => {
    return { change, outcome, by, seconds: (performance.now() - began) / 1000 }
  }
  const source = sources.find(({ path }) => path === change.file)!
  const tests = reaching(reach, sources, change.file, find(source, change)!)
  let left = batches(tests, moduleOf(change.file)!)
  if (left.length === 0) return end('unreached', '')
  const worths: Heard['worths'] = []
  for (let step = 0; step < TRIES_MAX && left.length > 0; step++) {
    const remaining = CHANGE_MS_MAX - (performance.now() - began)
    if (remaining <= 0) break
    const heard = await asked({ change, batches: left, testMs: TEST_MS }, remaining)
    worths.push(...heard.worths)
    if (worths.some(({ worth }) => worth === 'assertion')) break
    if (heard.hung === null) {
      if (heard.done) break
      // It ended by itself before it had asked all tests: on a busy machine that may be chance.
      if (step === TRIES_MAX - 1) worths.push({ worth: 'thrown', by: 'no judge came to its end' })
      continue
    }
    worths.push({ worth: 'time', by: heard.hung })
    left = without(left, heard.hung)
  }
  const outcome = best(worths.map(({ worth }) => worth))
  const word = outcome === 'caught' ? 'assertion' : outcome
  return end(outcome, worths.find(({ worth }) => worth === word)?.by ?? '')
}

function without(all: readonly Batch[], file: string): Batch[] {
  return all
    .map((batch) => batch.filter(([own]) => own !== file))
    .filter(({ length }) => length > 0)
}

function asked(question: Question, ms: number): Promise<Heard> {
  const judge = spawn(process.execPath, [JUDGE], { stdio: ['pipe', 'pipe', 'ignore'] })
  const heard: Heard = { worths: [], hung: null, done: false }
  let at = ''
  const hang = (): void => {
    heard.hung = at
    judge.kill('SIGKILL')
  }
  let silence = setTimeout(hang, SILENCE_MS)
  const whole = setTimeout(hang, ms)
  createInterface({ input: judge.stdout }).on('line', (line) => {
    clearTimeout(silence)
    silence = setTimeout(hang, SILENCE_MS)
    const answer = answerOf(line)
    if (!answer) return
    if ('done' in answer) heard.done = true
    if ('began' in answer) at = answer.began
    if (!('worth' in answer)) return
    at = answer.file
    if (answer.worth === 'passed') return
    heard.worths.push({ worth: answer.worth, by: `${answer.file}: ${answer.name}` })
    if (answer.worth === 'assertion') judge.kill('SIGKILL')
  })
  judge.stdin.end(JSON.stringify(question))
  return new Promise((resolve) => {
    judge.on('close', () => {
      clearTimeout(silence)
      clearTimeout(whole)
      resolve(heard)
    })
  })
}

/** A line of the judge; null for what something else wrote there. */
function answerOf(line: string): Answer | null {
  if (!/^\{"(began|file|done)":/.test(line)) return null
  return JSON.parse(line) as Answer
}
