/** A terminal that is typed into and read: tmux, on a socket of its own. */

import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PATIENCE_MS } from './harness.ts'

const TMUX = '/usr/bin/tmux'
/** How often the screen is read for what is waited for, in milliseconds. */
const POLL_MS = 60

/** Why there is no terminal here; null where there is one. */
export const noTerminal: string | null = existsSync(TMUX) ? null : 'tmux is not installed'

/** One terminal with one program. */
export class Terminal {
  readonly #folder = mkdtempSync(join(tmpdir(), 'holdfast-tmux-'))

  /** @param command  what runs in it; the terminal stays when it has ended */
  constructor(command: string, columns: number, lines: number) {
    const size = ['-x', String(columns), '-y', String(lines)]
    this.#tmux('-f', '/dev/null', 'new-session', '-d', ...size, `${command}; echo "ended $?"; cat`)
  }

  /** What is on the screen. @param colours  with the words that make them */
  read(colours = false): string {
    return this.#tmux('capture-pane', '-p', ...(colours ? ['-e'] : []))
  }

  /** Types keys, by tmux's names for them. */
  type(...keys: string[]): void {
    this.#tmux('send-keys', ...keys)
  }

  /** Waits until the screen has such a text. @returns the screen */
  async until(pattern: RegExp): Promise<string> {
    const end = performance.now() + PATIENCE_MS
    for (;;) {
      const screen = this.read()
      if (pattern.test(screen)) return screen
      if (performance.now() > end) throw new Error(`no ${pattern.source} on the screen:\n${screen}`)
      await new Promise((resolve) => setTimeout(resolve, POLL_MS))
    }
  }

  end(): void {
    try {
      this.#tmux('kill-server')
    } catch {
      // It has ended already.
    }
    rmSync(this.#folder, { recursive: true, force: true })
  }

  #tmux(...words: string[]): string {
    const socket = join(this.#folder, 's')
    return execFileSync(TMUX, ['-u', '-S', socket, ...words], { encoding: 'utf8' })
  }
}
