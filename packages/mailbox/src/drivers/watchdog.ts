/**
 * A thread that reports a blocked event loop. The loop cannot report a function that never returns,
 * so it marks the function in shared memory; the thread writes to stderr when the mark gets old.
 */

import { Worker } from 'node:worker_threads'
import type { Watchdog } from '../../../holdfast/src/ports.ts'

/** Longest name, in bytes; longer ones are cut. */
const NAME_BYTES = 512

// The shared words: how many functions began, whether one runs, the byte length of its name.
const [COUNT, BUSY, LENGTH] = [0, 1, 2]
const HEAD = 3 * 4

// The thread uses writeSync: its streams would go through the blocked loop.
const THREAD = `
const { workerData: { memory, ms } } = require('node:worker_threads')
const { writeSync } = require('node:fs')
const words = new Int32Array(memory, 0, 3)
const tick = Math.max(10, Math.min(1000, ms / 4))
let count = -1, since = 0, reported = false
for (;;) {
  // A word is awaited while nothing is under way, so an idle mailbox wakes nobody.
  if (Atomics.load(words, 1) === 0) { count = -1; Atomics.wait(words, 1, 0); continue }
  Atomics.wait(words, 1, 1, tick)
  const now = Atomics.load(words, 0)
  if (now !== count) { count = now; since = Date.now(); reported = false; continue }
  if (reported || Atomics.load(words, 1) === 0 || Date.now() - since < ms) continue
  reported = true
  const name = Buffer.from(new Uint8Array(memory, 12, Atomics.load(words, 2))).toString()
  const held = ((Date.now() - since) / 1000).toFixed(1)
  const what = ' has held the loop for ' + held + ' s, and nothing else runs'
  writeSync(2, 'holdfast: ' + name + what + '\\n')
}
`

/** Starts a watchdog. @param ms  how long a function may block the loop before it is reported */
export function startWatchdog(ms: number): Watchdog {
  const memory = new SharedArrayBuffer(HEAD + NAME_BYTES)
  const words = new Int32Array(memory, 0, 3)
  const name = new Uint8Array(memory, HEAD)
  const encoder = new TextEncoder()
  const worker = new Worker(THREAD, { eval: true, execArgv: [], workerData: { memory, ms } })
  // The thread must not keep the process alive.
  worker.unref()
  return {
    begin: (what) => {
      // Some encoders cannot write into shared memory.
      const bytes = encoder.encode(what).subarray(0, NAME_BYTES)
      name.set(bytes)
      Atomics.store(words, LENGTH, bytes.length)
      Atomics.add(words, COUNT, 1)
      Atomics.store(words, BUSY, 1)
      Atomics.notify(words, BUSY)
    },
    end: () => void Atomics.store(words, BUSY, 0),
    stop: () => void worker.terminate(),
  }
}
