// Goal: in Vue an effect runs again only for the store that it reads, and no more once its scope
// has ended.
import { handleStore, membersStore, type Session } from 'holdfast'
import { world } from 'holdfast/sim'
import { expect, test } from 'vitest'
import { effectScope, watchEffect } from 'vue'
import { add, tasks } from '../tasks.ts'
import { Task } from '../tasks.ts'
import { useStore } from './use-store.ts'

test('a row runs again for its own task alone', async () => {
  const w = world({ seed: 4, conditions: 'rtt=20' })
  const session: Session = await w.join({ ...tasks, name: 'Ada' })
  for (const title of ['tea', 'cake']) void session.act(add, { title })
  await w.run(200)
  const [tea, cake] = session.all(Task)
  const shown: string[] = []
  const scope = effectScope()
  scope.run(() => {
    const view = useStore(handleStore(session, tea!))
    const members = useStore(membersStore(session))
    const write = (): void => {
      const { title, done } = view.value.state
      shown.push(`${title} ${done} ${members.value.length}`)
    }
    watchEffect(write, { flush: 'sync' })
  })
  void cake!.update({ done: true })
  await w.run(200)
  expect(shown).toEqual(['tea false 1'])
  void tea!.update({ done: true })
  expect(shown.at(-1)).toBe('tea true 1')
  await w.run(200)
  const count = shown.length
  scope.stop()
  void tea!.update({ done: false })
  await w.run(200)
  expect(shown.length).toBe(count)
})
