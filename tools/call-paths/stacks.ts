/** The modules of the codebase that a stack passes through. */

import { LAYERS, placeOf } from '../tidy/layers.ts'

/** A call on a stack, in a module. */
export interface Frame {
  readonly module: string
  /** The file, as the system names it. */
  readonly file: string
  /** From 1. */
  readonly line: number
  readonly column: number
}

/** A stack at one place of a path. */
export interface Observed {
  /** Where it was taken, such as `at the socket`. */
  readonly at: string
  /** Outermost first. */
  readonly frames: readonly Frame[]
}

/** What a path may enter. */
export interface Limit {
  /** Modules at most. */
  readonly most: number
  /** Modules that it may enter again, for the reason that the text gives. */
  readonly again: readonly string[]
}

/** More than any path is deep. */
const FRAMES_MAX = 500

const MODULES = new Set(LAYERS.flat())

const PLACE = /(?:\(|\s)(?:file:\/\/)?(\/[^()]*?)(?:\?[^():]*)?:(\d+):(\d+)\)?$/

/** The module of a file; files of the lowest layer and entry points are in none. */
function roomOf(file: string): string | undefined {
  // The whole repository may lie in a folder of that name.
  const module = placeOf(
    file.slice(file.lastIndexOf('/packages/') + 1).replace(/\.js$/, '.ts'),
  )?.module
  return module !== undefined && MODULES.has(module) ? module.replace('/protocol', '') : undefined
}

/** The calls of a stack that stand in modules, outermost first. */
export function framesOf(stack: string): Frame[] {
  return stack
    .split('\n')
    .flatMap((line) => {
      // A caller that awaits a promise is not on the stack.
      if (/^\s*at async /.test(line)) return []
      const [, file, row, column] = PLACE.exec(line.trimEnd()) ?? []
      const module = file === undefined ? undefined : roomOf(file)
      if (file === undefined || module === undefined) return []
      return [{ module, file, line: Number(row), column: Number(column) }]
    })
    .toReversed()
}

/** The stack of the caller. */
export function framesHere(): Frame[] {
  const before = Error.stackTraceLimit
  Error.stackTraceLimit = FRAMES_MAX
  const { stack = '' } = new Error('where am I?')
  Error.stackTraceLimit = before
  return framesOf(stack)
}

/** The modules of a stack, outermost first: calls within a module are one entry. */
export function modulesOf({ frames }: Observed): string[] {
  return frames
    .map(({ module }) => module)
    .filter((module, i, modules) => module !== modules[i - 1])
}

/** Modules of all stacks of one path, in the order in which they are first entered. */
export function entered(stacks: readonly Observed[]): string[] {
  return [...new Set(stacks.flatMap(modulesOf))]
}

/** Each stack of a path by its modules, and how many modules and files the path enters. */
export function summaryOf(path: string, stacks: readonly Observed[]): string {
  const count = `${entered(stacks).length} modules, ${filesOf(stacks).length} files`
  const lines = stacks.map((stack) => `  ${stack.at}: ${modulesOf(stack).join(' > ')}`)
  return [`${path}: ${count}`, ...lines].join('\n')
}

function filesOf(stacks: readonly Observed[]): string[] {
  const files = new Set(stacks.flatMap(({ frames }) => frames.map(({ file }) => file)))
  // A frame that only names its module.
  files.delete('')
  return [...files]
}

/** Modules that a stack left and entered again before the call returned. */
export function enteredAgain(stacks: readonly Observed[]): string[] {
  const again = stacks.map(modulesOf).flatMap((modules) => {
    return modules.filter((module, i) => modules.indexOf(module) < i)
  })
  return [...new Set(again)].toSorted()
}

/** How a path breaks its limit, as sentences. */
export function complaints(path: string, stacks: readonly Observed[], limit: Limit): string[] {
  const modules = entered(stacks)
  const found = enteredAgain(stacks)
    .filter((module) => !limit.again.includes(module))
    .map((module) => `${path} enters ${module} again, and the text does not say why`)
  if (modules.length > limit.most) {
    found.push(
      `${path} enters ${modules.length} modules, at most ${limit.most}: ${modules.join(', ')}`,
    )
  }
  return found
}
