/** A list of tasks that people share: the rules of the examples in Svelte and in Vue. */

import { action, bool, piece, type PieceHandle, text } from 'holdfast'

/** A task. Several people may tick one at once: the server decides who was first. */
export const Task = piece('task', { title: text(80), done: bool })
export type TaskHandle = PieceHandle<typeof Task.schema.fields>

/** Adds a task. */
export const add = action('add', { title: text(80) }, (table, { title }) => {
  table.create(Task, { title })
})

/** Removes a task; nothing happens if somebody else just did. */
export const remove = action('remove', { task: text(20) }, (table, { task }) => {
  table.find(Task, task)?.remove()
})

/** The room, as `join` takes it. A window of either example may join. */
export const tasks = { game: 'tasks', types: [Task, add, remove] }
