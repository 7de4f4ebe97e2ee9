/** A terminal that is played in: keys in, pictures out, and the screen as it was at the end. */

import { writeSync } from 'node:fs'
import type { MazeClient } from '../maze-client.ts'
import { Controller } from '../controller.ts'
import { ENTER, EXIT, type TerminalBuffer, update } from './buffer.ts'
import { counts, type Key, read, type Repeats } from './keys.ts'
import { layOut } from './layout.ts'

/** Pictures a second, at most; a slow line takes fewer. */
const FRAME_MS = 40
/** How long a peek lasts after its key was heard, in milliseconds: a held key comes again. */
const PEEK_MS = 650

/** What is played, and where. */
export interface Table {
  readonly maze: MazeClient
  /** What is to be done before each picture. */
  beforeFrame(now: number): void
  standing(): { title: string; words: string }
  /** Who watched goes into the maze. */
  enter(): void
  /** Why it is over, if it is. */
  readonly over: Promise<string>
  leave(): Promise<void>
}

/** Gives the terminal back as it was, at once: who calls this may be dead in the next moment. */
export function restore(): void {
  if (!process.stdout.isTTY) return
  process.stdin.setRawMode?.(false)
  writeSync(process.stdout.fd, EXIT)
}

/** Plays until it is over, or the player leaves. */
export async function playAt(table: Table): Promise<void> {
  const { stdin, stdout } = process
  if (!stdout.isTTY || !stdin.isTTY) throw new Error('this is no terminal: the game needs one')
  const screen = new Screen(table)
  process.once('exit', restore)
  stdin.setRawMode(true)
  stdin.setEncoding('utf8')
  stdout.write(ENTER)
  const left = new Promise<string>((resolve) => {
    stdin.on('data', (typed: string) => {
      for (const key of read(typed)) if (key.kind === 'leave') resolve('')
      screen.type(typed)
    })
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      process.once(signal, () => resolve(''))
    }
  })
  const frames = setInterval(() => screen.draw(), FRAME_MS)
  stdout.on('resize', () => screen.forget())
  const why = await Promise.race([table.over, left])
  clearInterval(frames)
  process.removeListener('exit', restore)
  restore()
  if (why !== '') console.log(why)
  await table.leave()
}

class Screen {
  readonly #table: Table
  readonly #controller: Controller
  readonly #repeats: Repeats = new Map()
  #shown: TerminalBuffer | null = null
  #peeksUntil = 0
  #help = false
  // Whether the terminal has not taken all of the last picture.
  #full = false

  constructor(table: Table) {
    this.#table = table
    this.#controller = new Controller(table.maze)
  }

  /** The terminal shows something else now. */
  forget(): void {
    this.#shown = null
  }

  type(typed: string): void {
    for (const key of read(typed)) this.#press(key, performance.now())
  }

  #press(key: Key, now: number): void {
    const controller = this.#controller
    if (this.#help) this.#help = false
    else if (key.kind === 'help') this.#help = true
    else if (key.kind === 'next') {
      if (!controller.rat) controller.watch()
    } else if (key.kind === 'enter') this.#table.enter()
    else if (key.kind === 'peek') {
      controller.stage.peeks = key.side
      this.#peeksUntil = now + PEEK_MS
    } else if (key.kind === 'wish' && counts(this.#repeats, key.wish, now)) {
      this.#peeksUntil = now
      controller.wish(key.wish)
    }
  }

  draw(): void {
    const { stdout } = process
    const now = performance.now()
    this.#table.beforeFrame(now)
    if (now >= this.#peeksUntil) this.#controller.stage.peeks = null
    if (this.#controller.rat) this.#controller.stage.whose = null
    this.#controller.tick(now)
    if (this.#full) return
    const standing = { ...this.#table.standing(), help: this.#help }
    const wanted = layOut(stdout.columns, stdout.rows, this.#controller, standing, now)
    const words = update(this.#shown, wanted)
    this.#shown = wanted
    if (words === '') return
    this.#full = !stdout.write(words)
    if (this.#full) stdout.once('drain', () => (this.#full = false))
  }
}
