/** The definitions of the chat. Page, server and test share this file. */

import { action, type JoinOptions, piece, text, u32 } from 'holdfast'

/** Older messages make room for new ones. */
export const MESSAGES_MAX = 100

const words = text(200)
const name = text(24)

/** What a player said. */
export const Message = piece('message', { player: u32, name, words })

/** Says something. It is in the room once, whoever dies meanwhile. */
export const say = action('say', { name, words }, (table, said, by) => {
  if (said.words.trim() === '') throw new Error('a message needs words')
  const all = table.all(Message)
  if (all.length >= MESSAGES_MAX) all[0]!.remove()
  table.create(Message, { player: by.player, name: said.name, words: said.words.trim() })
})

/** What `join` is given. */
export const chat = {
  game: 'chat',
  types: [Message, say],
  keepRoom: '30d',
  listed: false,
} satisfies JoinOptions
