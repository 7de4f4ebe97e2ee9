/**
 * A chat room as a part of one's own: the last hundred lines, the same for all, in one order.
 *
 * | bytes | what |
 * |---|---|
 * | an operation | the line as UTF-8, 1 to 1,000 characters |
 * | a change | `line`: player, 32 bits; length in bytes, 12 bits; UTF-8; zeros to the whole byte |
 * | a snapshot | `lines`: how many, 7 bits; each as in a change; zeros at the end alone |
 */

import type { MemberInfo } from 'holdfast'
import { list, struct, text, u32 } from 'holdfast'
import { decode, definePart, encode, refuse } from 'holdfast/part'

/** Most lines that are kept, and most characters of one. */
const LINES_MAX = 100
const LINE_MAX = 1_000

const line = struct({ by: u32, text: text(LINE_MAX) })
const lines = list(line, LINES_MAX)

/** What was said, and the number of the player who did. */
export interface Line {
  readonly by: number
  readonly text: string
}

/** What `session.part` gives of a chat. */
export interface Chat {
  /** Oldest first. */
  readonly lines: readonly Line[]
  /** Says a line to all. @returns why not, as a sentence; empty if it was said */
  say(text: string): Promise<string>
  /** Calls when there are other lines. @returns stops it */
  subscribe(listener: () => void): () => void
  /** The name of who said it, while they are here. */
  nameOf(line: Line): string
}

/** Makes a chat of that name, for `types` of `join`. */
export const chat = definePart({
  channel: 64,
  text: () => `chat ${line.text} ${LINES_MAX}`,
  create: (): { lines: readonly Line[] } => ({ lines: [] }),
  perform: (_state, operation, by) => {
    // What is no UTF-8 becomes a sign for that, so whatever came is a text from here on.
    const said = new TextDecoder().decode(operation).trim()
    if (said === '') refuse('an empty line says nothing')
    if (said.length > LINE_MAX) refuse(`a line has at most ${LINE_MAX} characters: ${said.length}`)
    return { changes: [encode(line, { by: by.player, text: said })] }
  },
  apply: (state, change) => {
    const said = decode(line, change)
    if (said) state.lines = [...state.lines, said].slice(-LINES_MAX)
  },
  snapshot: (state) => encode(lines, state.lines),
  restore: (bytes) => {
    const said = decode(lines, bytes)
    return said && { lines: said }
  },
  face: (host): Chat => ({
    get lines() {
      return host.state.lines
    },
    say: async (said) => {
      const outcome = await host.ask(new TextEncoder().encode(said))
      return outcome.ok ? '' : outcome.reason
    },
    subscribe: (listener) => host.on('changed', listener),
    nameOf: ({ by }) => host.members.find((one: MemberInfo) => one.player === by)?.name ?? 'gone',
  }),
})
