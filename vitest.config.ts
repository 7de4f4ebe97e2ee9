/**
 * Which tests run in which project. A test file belongs to exactly one: what a folder of its own
 * does not claim is a unit test. Those whose clocks are real come one after the other, for the
 * machine is small.
 */

import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import type { TestProjectInlineConfiguration } from 'vitest/config'
import { entryPointsAsSource } from './tools/entry-points.ts'
import { tally } from './tools/tally.ts'

const MINUTE = 60_000

const HOUSE = ['test/{checks,papers,published,requirements,tidy}.test.ts']
const MODELS = ['proof/models/**/*.test.ts']
const SIM = ['test/sim/**/*.test.ts']
// Machines by many seeds, which take some seconds each.
const SEEDED = [
  'test/{objects,paths,pieces,slots}/random.test.ts',
  'test/slots/standstills.test.ts',
  'test/kernel/mailbox.test.ts',
  'packages/yjs/src/{state,storms}.test.ts',
]
// Whole sessions for many seconds, at many timings or of many members, which take some seconds
// each and are of one matter alone.
const LONG = [
  'test/sessions/{requests,keeping,hub-crowds}.test.ts',
  'test/pieces/absences.test.ts',
  'games/teapots/{sugar,seat}.test.ts',
  'games/tabletop/rules/{absence,clock}.test.ts',
]
const DRIVERS = [
  'test/conformance/**/*.test.ts',
  'packages/holdfast/src/drivers/**/*.test.ts',
  '{packages/cli/src,proof/cli}/**/*.test.ts',
]
// They mostly wait, for what is offline or frozen for a minute and a half.
const PATIENT = ['test/e2e/{offline,absence}.test.ts']
// Real clocks that go on for long: a hundred passes, five devices that come back, full disks, the
// three largest games.
const SLOW = [
  'test/e2e/{returns,lumps,lan,hidden,tabletop,teapots,dots}.test.ts',
  'test/conformance/{mail-letters,hub-disk,kept-disk,runtimes}.test.ts',
  'packages/cli/src/mailbox.test.ts',
]
// Large scopes and many seeds.
const WIDE = ['test/sim/{many,gone,late}.test.ts', 'proof/models/large.test.ts']
const E2E = ['test/e2e/**/*.test.ts']
// What a contributor waits for beside unit tests: one failover by processes, one e2e of each game.
const FIRST = ['test/first/**/*.test.ts']
const BENCHES = ['bench/smoke.test.ts']

// Where clocks are real, a test waits for events, however long a busy machine takes for them: its
// own limit alone ends a vain wait. A poll ends a little before that, to say what it saw last. None
// gets a second go.
const REAL = {
  ...{ pool: 'forks', testTimeout: 4 * MINUTE, hookTimeout: 2 * MINUTE },
  expect: { poll: { timeout: 1.5 * MINUTE } },
} as const

type Options = NonNullable<TestProjectInlineConfiguration['test']>

function project(
  name: string,
  groupOrder: number,
  options: Options,
): TestProjectInlineConfiguration {
  return {
    extends: true,
    test: { name, pool: 'threads', sequence: { groupOrder }, ...options },
  }
}

const projects = [
  project('unit', 0, {
    include: ['{packages/*/src,games,tools,bench,test}/**/*.test.ts'],
    exclude: [
      '**/node_modules/**',
      ...HOUSE,
      ...MODELS,
      ...SIM,
      ...SEEDED,
      ...LONG,
      ...DRIVERS,
      ...E2E,
      ...FIRST,
      ...BENCHES,
    ],
    isolate: false,
    testTimeout: 2 * MINUTE,
  }),
  project('house', 0, { include: HOUSE, testTimeout: 10 * MINUTE }),
  project('models', 0, { include: MODELS, exclude: WIDE, testTimeout: 10 * MINUTE }),
  project('sim', 0, {
    include: [...SIM, ...SEEDED, ...LONG],
    exclude: WIDE,
    testTimeout: 10 * MINUTE,
  }),
  // Two at once, for they wait for the most part.
  project('first', 1, { include: FIRST, ...REAL, maxWorkers: 2 }),
  // Sockets and browsers measure real time: nothing else runs beside them.
  project('drivers', 2, { include: DRIVERS, exclude: SLOW, ...REAL, maxWorkers: 1 }),
  project('e2e', 3, { include: E2E, exclude: [...PATIENT, ...SLOW], ...REAL, maxWorkers: 1 }),
  project('wide', 4, { include: WIDE, testTimeout: 20 * MINUTE }),
  project('patient', 5, { include: PATIENT, ...REAL, maxWorkers: 2 }),
  project('slow', 6, { include: SLOW, ...REAL, maxWorkers: 1 }),
  // Each is a process that takes some seconds on all cores.
  project('benches', 7, { include: BENCHES, pool: 'forks', maxWorkers: 1 }),
]

const root = fileURLToPath(new URL('.', import.meta.url))

export default defineConfig({
  resolve: { alias: entryPointsAsSource(root, 'node') },
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  test: {
    projects,
    // As many as the machine has cores: left to itself, the runner keeps one of two idle.
    maxWorkers: '100%',
    reporters: ['default', tally()],
    setupFiles: ['tools/processor.ts'],
  },
})
