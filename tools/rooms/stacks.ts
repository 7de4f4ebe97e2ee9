/** What a stack says of the rooms of the house: in which it is, and how it came there. */

import { FLOORS, place } from '../tidy/floors.ts'

/** A call on a stack, in a room of the house. */
export interface Frame {
  readonly room: string
  /** The file, as the system names it. */
  readonly file: string
  /** From 1. */
  readonly line: number
  readonly column: number
}

/** A stack at one place of a path. */
export interface Sight {
  /** Where it was taken, such as `at the socket`. */
  readonly at: string
  /** Outermost first. */
  readonly frames: readonly Frame[]
}

/** What a path may enter. */
export interface Limit {
  /** Rooms at most. */
  readonly most: number
  /** Rooms that it may enter again, for the reason that the text gives. */
  readonly again: readonly string[]
}

/** More than any path is deep. */
const FRAMES_MAX = 500

const ROOMS = new Set(FLOORS.flat())

const PLACE = /(?:\(|\s)(?:file:\/\/)?(\/[^()]*?)(?:\?[^():]*)?:(\d+):(\d+)\)?$/

/** The folder of a file; files of the lowest layer and the doors stand in none. */
function roomOf(file: string): string | undefined {
  // The whole repository may lie in a folder of that name.
  const room = place(file.slice(file.lastIndexOf('/packages/') + 1).replace(/\.js$/, '.ts'))?.room
  return room !== undefined && ROOMS.has(room) ? room.replace('/protocol', '') : undefined
}

/** The calls of a stack that stand in rooms, outermost first. */
export function framesOf(stack: string): Frame[] {
  return stack
    .split('\n')
    .flatMap((line) => {
      // What waits for a promise is not on the stack.
      if (/^\s*at async /.test(line)) return []
      const [, file, row, column] = PLACE.exec(line.trimEnd()) ?? []
      const room = file === undefined ? undefined : roomOf(file)
      if (file === undefined || room === undefined) return []
      return [{ room, file, line: Number(row), column: Number(column) }]
    })
    .toReversed()
}

/** The stack of whoever calls. */
export function framesHere(): Frame[] {
  const before = Error.stackTraceLimit
  Error.stackTraceLimit = FRAMES_MAX
  const { stack = '' } = new Error('where am I?')
  Error.stackTraceLimit = before
  return framesOf(stack)
}

/** The rooms of a stack, outermost first: calls within a room are one entry. */
export function roomsOf({ frames }: Sight): string[] {
  return frames.map(({ room }) => room).filter((room, i, rooms) => room !== rooms[i - 1])
}

/** Rooms of all stacks that together carry something, in the order in which they are first met. */
export function entered(sights: readonly Sight[]): string[] {
  return [...new Set(sights.flatMap(roomsOf))]
}

/** Files of all stacks that together carry something, in the order in which they are first met. */
export function filesOf(sights: readonly Sight[]): string[] {
  const files = new Set(sights.flatMap(({ frames }) => frames.map(({ file }) => file)))
  // What only names a room.
  files.delete('')
  return [...files]
}

/** Rooms that stand in one stack twice: left, and entered again before the call returned. */
export function enteredAgain(sights: readonly Sight[]): string[] {
  const again = sights.map(roomsOf).flatMap((rooms) => {
    return rooms.filter((room, i) => rooms.indexOf(room) < i)
  })
  return [...new Set(again)].toSorted()
}

/** What a path does that it may not, as sentences; none if it keeps its limit. */
export function complaints(path: string, sights: readonly Sight[], limit: Limit): string[] {
  const rooms = entered(sights)
  const found = enteredAgain(sights)
    .filter((room) => !limit.again.includes(room))
    .map((room) => `${path} enters ${room} again, and the text does not say why`)
  if (rooms.length > limit.most) {
    found.push(`${path} enters ${rooms.length} rooms, at most ${limit.most}: ${rooms.join(', ')}`)
  }
  return found
}
