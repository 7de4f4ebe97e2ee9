/** A whole screen of the game in a terminal: view, map, scores, words. */

import type { Cockpit, Line } from '../cockpit.ts'
import { peek } from '../rules/peek.ts'
import { byScore, MISSILES_MAX, type Rat } from '../rules/world.ts'
import { blend, colourOf, GROUND, LINE, type Rgb } from '../view/colours.ts'
import { paint, pack } from './eye.ts'
import { createGlass, type Area, type Glass, write } from './glass.ts'
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
  cockpit: Cockpit,
  standing: Standing,
  now: number,
): Glass {
  const glass = createGlass(columns, lines, pack(GROUND))
  if (columns < COLUMNS_MIN || lines < LINES_MIN) return tooSmall(glass)
  const pitch = pitchFor(columns, lines)
  const wide = sizeOf(pitch).columns + 2
  const view: Area = { left: 0, top: 0, columns: columns - wide, lines: lines - 1 }
  const side: Area = { left: columns - wide, top: 0, columns: wide, lines: lines - 1 }
  const scene = cockpit.scene(now)
  paint(glass, view, scene, (rat) => cockpit.burrow.nameOf(rat))
  paintSide(glass, side)
  const { burrow, stage } = cockpit
  const inner = { ...side, left: side.left + 1 }
  paintMap(glass, inner, pitch, scene, stage.whose ?? burrow.me)
  paintScores(glass, { ...inner, top: sizeOf(pitch).lines + 1 }, cockpit, standing)
  paintLines(glass, view, cockpit)
  paintState(glass, cockpit)
  if (standing.help) paintHelp(glass, view)
  return glass
}

// Dots of the map from wall to wall: the scores below need some lines too.
function pitchFor(columns: number, lines: number): number {
  const fits = [4, 3].find((pitch) => {
    const size = sizeOf(pitch)
    return columns >= 2.4 * size.columns && lines >= size.lines + 12
  })
  return fits ?? 2
}

function tooSmall(glass: Glass): Glass {
  const { columns, lines } = glass
  const size = `${COLUMNS_MIN}x${LINES_MIN}`
  const words = `The maze needs ${size}, this window has ${columns}x${lines}: make it larger.`
  const broken = breakUp(words, columns)
  // Where not even that has room, the size alone.
  const text =
    broken.length > lines || broken.some((line) => line.length > columns) ? [size] : broken
  const top = Math.max(0, Math.floor((lines - text.length) / 2))
  for (const [i, line] of text.entries()) write(glass, 0, top + i, line, pack(LINE))
  return glass
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

function paintSide(glass: Glass, { left, top, columns, lines }: Area): void {
  for (let y = top; y < top + lines; y++) {
    write(glass, left, y, ' '.repeat(columns), 0, { ground: pack(SIDE) })
  }
}

function paintScores(glass: Glass, area: Area, cockpit: Cockpit, standing: Standing): void {
  const { left, top, columns } = area
  const rats = byScore(cockpit.burrow.ahead)
  const room = glass.lines - 1 - top - 3
  const width = columns - 2
  write(glass, left, top, standing.title, pack(LINE), { width })
  write(glass, left, top + 1, standing.words, pack(SOFT), { width })
  for (const [i, rat] of within(rats, room, cockpit.burrow.me).entries()) {
    const y = top + 3 + i
    const mine = rat.id === cockpit.burrow.me
    const points = String(rat.score)
    const name = cockpit.burrow.nameOf(rat.id) + (mine ? ' (you)' : '')
    write(glass, left, y, '●', pack(colourOf(rat.id)))
    write(glass, left + 2, y, name, pack(mine ? [255, 255, 255] : TEXT), { width: width - 8 })
    write(glass, left + width - points.length, y, points, pack(TEXT))
  }
}

// So many of them; one's own row takes the place of the last that has room.
function within(rats: readonly Rat[], room: number, me: number): readonly Rat[] {
  const most = Math.max(0, room)
  const own = rats.findIndex(({ id }) => id === me)
  if (own < most || most === 0) return rats.slice(0, most)
  return [...rats.slice(0, most - 1), rats[own]!]
}

function paintLines(glass: Glass, view: Area, { lines }: Cockpit): void {
  for (const [i, line] of lines.entries()) {
    const y = view.top + view.lines - lines.length + i - 1
    write(glass, 2, y, line.text, pack(INKS[line.kind]), { width: view.columns - 4 })
  }
}

function paintState(glass: Glass, cockpit: Cockpit): void {
  const { rat, stage, burrow } = cockpit
  const y = glass.lines - 1
  const ground = pack([20, 33, 30])
  write(glass, 0, y, ' '.repeat(glass.columns), 0, { ground })
  let x = 1
  const say = (text: string, ink: Rgb): void => {
    write(glass, x, y, text, pack(ink), { ground, width: glass.columns - x - 1 })
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
  } else if (burrow.state.rats.length === 0) say('Nobody is in the maze.', TEXT)
  else if (stage.whose !== null) say(`The eyes of ${burrow.nameOf(stage.whose)}`, TEXT)
  else say('You watch: tab to see through their eyes.', TEXT)
  say(KEYS, SOFT)
}

function paintHelp(glass: Glass, view: Area): void {
  const width = Math.min(view.columns - 2, 54)
  const left = view.left + Math.floor((view.columns - width) / 2)
  const top = Math.max(0, Math.floor((view.lines - HELP.length - 2) / 2))
  const ground = pack(blend(GROUND, LINE, 0.12))
  for (let i = 0; i < HELP.length + 2; i++) {
    write(glass, left, top + i, ' '.repeat(width), 0, { ground })
    const text = HELP[i - 1]
    const ink = pack(i === 1 ? LINE : TEXT)
    if (text) write(glass, left + 2, top + i, text, ink, { ground, width: width - 3 })
  }
}
