// Goal: hosts of a process keep their rooms in one file of their own, which is there when they come
// back, and is nobody else's meanwhile; what is no such file is said.
// Method: the shipped hub as a process, members over sockets, real files.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join as pathOf } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openSqliteStore } from '../../packages/holdfast/src/drivers/store/sqlite.ts'
import { action, host, type Session } from '../../packages/holdfast/src/node.ts'
import { type HubProcess, startHubIn } from './hub-process.ts'

const folder = mkdtempSync(pathOf(tmpdir(), 'holdfast-own-store-'))
const at = (name: string): string => pathOf(folder, name)
let hub: HubProcess
beforeAll(async () => {
  hub = await startHubIn(folder)
})
afterAll(async () => {
  await hub.kill('SIGKILL')
  rmSync(folder, { recursive: true })
})

const add = action('add', (table) => {
  const count = Number(table.get('count') ?? 0) + 1
  table.set('count', count)
  return count
})

const hosting = (room: string, store: string): Promise<Session> => {
  return host({ game: 'g', room, types: [add], server: hub.url, store, udp: null })
}

test('AP-1: two hosts of a process keep their rooms in one file, and come back to it', async () => {
  const store = at('rooms.db')
  for (const life of [1, 2, 3]) {
    const both = [await hosting('one', store), await hosting('two', store)]
    for (const session of both) {
      expect(await session.act(add, null)).toMatchObject({ ok: true, value: life })
      expect(session.safety).toBe('kept')
    }
    for (const session of both) await session.leave()
  }
  // The last who goes closes the file.
  const open = openSqliteStore(store)
  expect([...open.entries()].length).toBeGreaterThan(0)
  open.close()
})

test.each([
  ['', 'bad-value'],
  [7, 'bad-value'],
  ['text', 'store'],
  ['none/rooms.db', 'store'],
])('a store %j is none (%s), and can be made right', async (given, code) => {
  writeFileSync(at('text'), 'no store at all, but a line of text')
  const store = typeof given === 'string' && given !== '' ? at(given) : (given as string)
  await expect(hosting('three', store)).rejects.toMatchObject({ code })
  const session = await hosting('three', at('right.db'))
  await session.leave()
})
