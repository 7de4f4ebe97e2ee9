/** What the rooms of `rooms-0.2.json` are made of, and what is in them. */

import { action, object, piece, text, u8, withRoom } from '../../packages/holdfast/src/index.ts'

const add = action('add', (table, [what]: [string]) => {
  table.set(what, ((table.get(what) as number | undefined) ?? 0) + 1)
  return table.get(what) as number
})
const ring = action('ring', (table) => table.set('rang', true))
const wait = action('wait', (table, [ms]: [number]) => table.later(ms, ring))
const Pawn = piece('pawn', { at: u8 })
const put = action('put', (table, [at]: [number]) => void table.create(Pawn, { at }))
const stays = { onOwnerLeave: 'keep', kept: withRoom() } as const
const Stroke = object('stroke', { x: u8, ink: text(9) }, { take: 'free', ...stays })

/** The definitions of the game. */
export const OF_02 = { add, ring, wait, Pawn, put, Stroke }
/** With which the sealed one is sealed. */
export const KEY_02 = '5a'.repeat(32)

/** What a hub of 0.2 had on its disk, a room and its file, in base64. */
export interface StoredBy02 {
  readonly keepRoom: { for: '365d'; key?: string }
  readonly tokens: Readonly<Record<'ada' | 'grace' | 'linus', string>>
  readonly disk: readonly (readonly [key: string, value: string])[]
  readonly file: string
}
