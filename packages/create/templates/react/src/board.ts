/** The definitions of a board: its notes and actions. The page and the test share this file. */

import { action, type JoinOptions, object, oneOf, piece, text } from 'holdfast'

export const COLUMNS = ['todo', 'doing', 'done'] as const

/** A note, which several people may edit at once. */
export const Note = piece('note', { title: text(120), column: oneOf(...COLUMNS) })

/** Which note a person edits; empty for none. It goes when its person goes. */
export const Editing = object('editing', { note: text(16) })

export const add = action('add', { title: text(120) }, (table, { title }) => {
  if (title.trim() === '') throw new Error('a note needs a title')
  table.create(Note, { title: title.trim(), column: 'todo' })
})

export const remove = action('remove', { note: text(16) }, (table, { note }) => {
  table.find(Note, note)?.remove()
})

/** What `join` is given; `keepRoom: '30d'` and other options go here, too. */
export const board = { game: 'board', types: [Note, Editing, add, remove] } satisfies JoinOptions
