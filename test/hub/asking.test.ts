// Goal: a hub with many rooms asks all of their primaries, and nobody waits for it.
import { expect, test } from 'vitest'
import * as register from '../../packages/hub/src/machine/register.ts'
import { PART_MAX } from '../../packages/holdfast/src/rounds.ts'

const QUIET = { send: () => {}, record: () => {} }
const bytes = new Uint8Array(32)
const WISH = {
  ...({ game: 'g', playersMax: 8, recovers: false, topology: 'star', terms: '' } as const),
  ...{ hash: bytes.subarray(0, 16), link: bytes, key: bytes },
}

// The disk takes it.
function write(directory: register.Registers, session: string): void {
  register.recordOf(directory, session)
  register.confirmWrite(directory, 0, session)
}

function directoryOf(rooms: number): register.Registers {
  const directory = register.create(0)
  for (let at = 0; at < rooms; at++) {
    register.add(directory, 0, { ...WISH, room: `${at}` }, `s${at}`, QUIET)
    write(directory, `s${at}`)
  }
  return directory
}

/** Whose primaries are asked at that time. */
function asked(directory: register.Registers, now: number): string[] {
  const found: string[] = []
  register.wake(directory, now, { ...QUIET, send: (_to, { session }) => void found.push(session) })
  return found
}

test('of 250 primaries each is asked once a round, no more than a hundred in one turn (SE-10)', () => {
  const directory = directoryOf(250)
  const parts: string[][] = []
  for (let at = 0; at < 3; at++) parts.push(asked(directory, register.deadline(directory)))
  expect(parts.map(({ length }) => length)).toEqual([PART_MAX, PART_MAX, 50])
  expect(new Set(parts.flat()).size).toBe(250)
  expect(register.deadline(directory)).toBe(2 * register.ASK_MS)
})

test('a room that ended during a round is not asked after', () => {
  const directory = directoryOf(150)
  asked(directory, register.ASK_MS)
  register.endSession(directory, 's149', QUIET)
  write(directory, 's149')
  const rest = asked(directory, register.deadline(directory))
  expect(rest).toHaveLength(49)
  expect(rest).not.toContain('s149')
})
