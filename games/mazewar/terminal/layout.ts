/** A whole screen of the game in a terminal: view, map, scores, words. */

import type { Controller, Line } from '../controller.ts'
import { peek } from '../rules/peek.ts'
import { byScore, MISSILES_MAX, type Rat } from '../rules/world.ts'
import { blend, colourOf, GROUND, LINE, type Rgb } from '../view/colours.ts'
import { paint, pack } from './view.ts'
import { createBuffer, type Area, type TerminalBuffer, write } from './buffer.ts'
import { paintMap, sizeOf } from './map.ts'

/** The least that a screen of the game needs. */
export const COLUMNS_MIN = 60
/** See COLUMNS_MIN. */
export const LINES_MIN = 18

const TEXT: Rgb = [228, 243, 234]
const SOFT: Rgb = [143, 176, 162]
const SIDE: Rgb = [13, 21, 20]
const INKS: Readonly<Record<Line['kind'], Rgb>> = {
  good: LINE,
  bad: [255, 143, 133],
  quiet: SOFT,
}

const KEYS = '↑↓←→ move  space shoot  q/e peek  c cloak  h help  ^C leave'
const HELP: readonly string[] = [
  'HOW IT IS PLAYED',
  '',
  'You see down the corridors, and so do the others.',
  'A hit is +11, a shot -1, being hit -5.',
  'Who is hit comes back somewhere else.',
  '',
  '↑ w      a step ahead      ↓ s   a step back',
  '← → a d  turn              x     turn round',
  'space    shoot: three at most are on their way',
  'q e      peek round the next corner',
  'c        cloak: nobody sees you, until you shoot',
  'tab      through whose eyes, for who watches',
  'enter    into the maze, for who watches',
  '^C       leave',
]

/** What is said of the session, in a few words. */
export interface Standing {
  readonly title: string
  readonly words: string
  readonly help: boolean
}

/** The screen as it should be now. */
export function layOut(
  columns: number,
  lines: number,
  controller: Controller,
  standing: Standing,
  now: number,
): TerminalBuffer {
  const buffer = createBuffer(columns, lines, pack(GROUND))
  if (columns < COLUMNS_MIN || lines < LINES_MIN) return tooSmall(buffer)
  const pitch = pitchFor(columns, lines)
  const wide = sizeOf(pitch).columns + 2
  const view: Area = { left: 0, top: 0, columns: columns - wide, lines: lines - 1 }
  const side: Area = { left: columns - wide, top: 0, columns: wide, lines: lines - 1 }
  const scene = controller.scene(now)
  paint(buffer, view, scene, (rat) => controller.maze.nameOf(rat))
  paintSide(buffer, side)
  const { maze, stage } = controller
  const inner = { ...side, left: side.left + 1 }
  paintMap(buffer, inner, pitch, scene, stage.whose ?? maze.me)
  paintScores(buffer, { ...inner, top: sizeOf(pitch).lines + 1 }, controller, standing)
  paintLines(buffer, view, controller)
  paintState(buffer, controller)
  if (standing.help) paintHelp(buffer, view)
  return buffer
}

// Dots of the map from wall to wall: the scores below need some lines too.
function pitchFor(columns: number, lines: number): number {
  const fits = [4, 3].find((pitch) => {
    const size = sizeOf(pitch)
    return columns >= 2.4 * size.columns && lines >= size.lines + 12
  })
  return fits ?? 2
}

function tooSmall(buffer: TerminalBuffer): TerminalBuffer {
  const { columns, lines } = buffer
  const size = `${COLUMNS_MIN}x${LINES_MIN}`
  const words = `The maze needs ${size}, this window has ${columns}x${lines}: make it larger.`
  const broken = breakUp(words, columns)
  // Where not even that has room, the size alone.
  const text =
    broken.length > lines || broken.some((line) => line.length > columns) ? [size] : broken
  const top = Math.max(0, Math.floor((lines - text.length) / 2))
  for (const [i, line] of text.entries()) write(buffer, 0, top + i, line, pack(LINE))
  return buffer
}

// Lines of whole words.
function breakUp(text: string, columns: number): string[] {
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + 1 + word.length <= columns) {
      lines[lines.length - 1] = `${last} ${word}`
    } else lines.push(word)
  }
  return lines
}

function paintSide(buffer: TerminalBuffer, { left, top, columns, lines }: Area): void {
  for (let y = top; y < top + lines; y++) {
    write(buffer, left, y, ' '.repeat(columns), 0, { ground: pack(SIDE) })
  }
}

function paintScores(
  buffer: TerminalBuffer,
  area: Area,
  controller: Controller,
  standing: Standing,
): void {
  const { left, top, columns } = area
  const rats = byScore(controller.maze.ahead)
  const room = buffer.lines - 1 - top - 3
  const width = columns - 2
  write(buffer, left, top, standing.title, pack(LINE), { width })
  write(buffer, left, top + 1, standing.words, pack(SOFT), { width })
  for (const [i, rat] of within(rats, room, controller.maze.me).entries()) {
    const y = top + 3 + i
    const mine = rat.id === controller.maze.me
    const points = String(rat.score)
    const name = controller.maze.nameOf(rat.id) + (mine ? ' (you)' : '')
    write(buffer, left, y, '●', pack(colourOf(rat.id)))
    write(buffer, left + 2, y, name, pack(mine ? [255, 255, 255] : TEXT), { width: width - 8 })
    write(buffer, left + width - points.length, y, points, pack(TEXT))
  }
}

// So many of them; one's own row takes the place of the last that has room.
function within(rats: readonly Rat[], room: number, me: number): readonly Rat[] {
  const most = Math.max(0, room)
  const own = rats.findIndex(({ id }) => id === me)
  if (own < most || most === 0) return rats.slice(0, most)
  return [...rats.slice(0, most - 1), rats[own]!]
}

function paintLines(buffer: TerminalBuffer, view: Area, { lines }: Controller): void {
  for (const [i, line] of lines.entries()) {
    const y = view.top + view.lines - lines.length + i - 1
    write(buffer, 2, y, line.text, pack(INKS[line.kind]), { width: view.columns - 4 })
  }
}

function paintState(buffer: TerminalBuffer, controller: Controller): void {
  const { rat, stage, maze } = controller
  const y = buffer.lines - 1
  const ground = pack([20, 33, 30])
  write(buffer, 0, y, ' '.repeat(buffer.columns), 0, { ground })
  let x = 1
  const say = (text: string, ink: Rgb): void => {
    write(buffer, x, y, text, pack(ink), { ground, width: buffer.columns - x - 1 })
    x += Array.from(text).length + 2
  }
  if (rat) {
    const left = MISSILES_MAX - rat.missiles.length
    say(`${rat.score} points`, [255, 255, 255])
    say('●'.repeat(left) + '○'.repeat(MISSILES_MAX - left), LINE)
    if (rat.cloaked) say('CLOAKED', [205, 182, 255])
    if (stage.peeks) {
      const corner = peek(rat.at, rat.facing, stage.peeks)
      say(`${corner ? 'peeking' : 'no corner to the'} ${stage.peeks}`, LINE)
    }
  } else if (maze.state.rats.length === 0) say('Nobody is in the maze.', TEXT)
  else if (stage.whose !== null) say(`The eyes of ${maze.nameOf(stage.whose)}`, TEXT)
  else say('You watch: tab to see through their eyes.', TEXT)
  say(KEYS, SOFT)
}

function paintHelp(buffer: TerminalBuffer, view: Area): void {
  const width = Math.min(view.columns - 2, 54)
  const left = view.left + Math.floor((view.columns - width) / 2)
  const top = Math.max(0, Math.floor((view.lines - HELP.length - 2) / 2))
  const ground = pack(blend(GROUND, LINE, 0.12))
  for (let i = 0; i < HELP.length + 2; i++) {
    write(buffer, left, top + i, ' '.repeat(width), 0, { ground })
    const text = HELP[i - 1]
    const ink = pack(i === 1 ? LINE : TEXT)
    if (text) write(buffer, left + 2, top + i, text, ink, { ground, width: width - 3 })
  }
}
