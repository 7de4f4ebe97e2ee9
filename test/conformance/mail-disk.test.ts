// Goal: disks and files that fail are named and never trusted, and one process has a store,
// however its file is read meanwhile.
// Method: real files; a library that makes syncs fail; files that are read, changed, taken away.
import { spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'libsql'
import { beforeAll, describe, expect, test } from 'vitest'
import { failsWith, openMailboxes } from './open-mailboxes.ts'
import { noPreload, preload } from './preload.ts'
import { until } from './until.ts'

const DOOR = new URL('../../packages/holdfast/dist/mailbox/src/index.js', import.meta.url)
const { close, folder, freshFile, open } = openMailboxes('disks')
beforeAll(() => {
  if (!existsSync(DOOR)) throw new Error('run `npx tsc -b` first: child processes need dist/')
})

/** Runs a script in a process of its own, with `openMailbox` at hand. */
function inProcess(script: string, env: Record<string, string> = {}): string {
  const begin = `const { openMailbox } = await import(${JSON.stringify(DOOR.href)})\n`
  const words = ['--input-type=module', '-e', begin + script]
  const options = { encoding: 'utf8', env: { ...process.env, ...env }, timeout: 100_000 } as const
  const { stdout, stderr } = spawnSync(process.execPath, words, options)
  return `${stdout}${stderr}`.trim()
}

test('who reads or copies its own store file does not give it away (MB-7)', async () => {
  const store = freshFile()
  const alice = await open({ id: 'alice', store })
  await alice.to('bob').post(1)
  copyFileSync(store, freshFile())
  readFileSync(store)
  const said = inProcess(`
    try { await openMailbox({ id: 'alice', store: ${JSON.stringify(store)} }) }
    catch (error) { console.log(error.message) }
    process.exit()`)
  expect(said).toContain(`it is in use by process ${process.pid}`)
  expect(await alice.to('bob').post(2)).toBe(2)
})

describe('a backup', () => {
  test('is made while the mailbox is open, whole, and of its moment (MB-7, MB-28)', async () => {
    const alice = await open({ id: 'alice' })
    await alice.transact((tx) => tx.sql('CREATE TABLE mine (n)'))
    const posts = Array.from({ length: 100 }, (_, i) => alice.to('bob').post(i))
    const copy = freshFile()
    await alice.backup(copy)
    await Promise.all(posts)
    expect(await failsWith(alice.backup(copy))).toContain('it exists already')
    await alice.to('bob').post('later')
    const again = await open({ id: 'alice', store: copy })
    expect(again.queues()).toEqual([expect.objectContaining({ peer: 'bob', waiting: 100 })])
    expect(await again.transact((tx) => tx.sql('SELECT * FROM mine'))).toEqual([])
  })

  test('that is put back is told as what it is (MB-1)', async () => {
    const bob = await open({ id: 'bob', listen: { port: 0 } })
    bob.on('letter', () => {})
    const alice = await open({ id: 'alice', peers: { bob: bob.url! } })
    await alice.to('bob').post(1)
    const copy = freshFile()
    await alice.backup(copy)
    await alice.to('bob').post(2)
    await until(() => alice.queues()[0]!.waiting === 0)
    await close(alice)
    const again = await open({ id: 'alice', store: copy })
    await again.to('bob').post('two, again')
    again.connect('bob', bob.url!)
    await until(() => again.queues()[0]!.fault !== null)
    expect(again.queues()[0]!.fault).toContain('bob has another letter 2')
  })

  test('of what is in memory is refused', async () => {
    const alice = await open({ id: 'alice', store: null })
    expect(await failsWith(alice.backup(freshFile()))).toContain('is not a file')
  })
})

test('a store that is deleted or replaced while it is open says so to who posts', async () => {
  for (const isReplaced of [false, true]) {
    const store = freshFile()
    const alice = await open({ id: 'alice', store })
    await alice.to('bob').post(1)
    const away = freshFile()
    renameSync(store, away)
    if (isReplaced) copyFileSync(away, store)
    const what = isReplaced ? 'another file was put in its place' : 'it was deleted'
    let said = 'no error'
    for (let i = 0; i < 8 && said === 'no error'; i++)
      said = await failsWith(alice.to('bob').post(2))
    expect(said).toContain(what)
    renameSync(away, store)
    expect(await failsWith(alice.to('bob').post(2))).toContain('reopen it')
    await close(alice)
  }
})

describe('a failed sync', () => {
  const lacks = noPreload()

  test('is never trusted again: the post is rejected, and so is each after it (MB-18)', (context) => {
    if (lacks !== null) context.skip(lacks) // needs a C compiler
    const place = join(folder, 'failing')
    mkdirSync(place)
    const shim = preload('fail-sync', folder)
    const [store, fail] = [join(place, 'a.db'), join(folder, 'fail')]
    const script = `
      import { rmSync, writeFileSync } from 'node:fs'
      const [store, fail] = ${JSON.stringify([store, fail])}
      const post = (box, body) => box.to('bob').post(body).catch((error) => error.message)
      let box = await openMailbox({ id: 'alice', store, accept: { bob: null } })
      const said = [await post(box, 1)]
      writeFileSync(fail, '')
      said.push(await post(box, 2))
      rmSync(fail)
      said.push(await post(box, 3))
      await box.close()
      box = await openMailbox({ id: 'alice', store, accept: { bob: null } })
      const { posted } = box.queues()[0]
      said.push((await post(box, 4)) - posted)
      console.log(JSON.stringify(said))
      await box.close()`
    const said = inProcess(script, { LD_PRELOAD: shim, FAIL: fail, WATCH: place })
    const failed = expect.stringContaining('the disk failed while it was written')
    expect(JSON.parse(said)).toEqual([1, failed, failed, 1])
  })
})

describe('a flipped bit', () => {
  test.each([
    ['a value', `UPDATE mail_values SET value = x'0139' WHERE key = 'money'`],
    ['the checksum of a value', `UPDATE mail_values SET crc = crc + 1 WHERE key = 'money'`],
  ])('in %s is named, and the value never served (MB-27)', async (_what, damage) => {
    const store = freshFile()
    const alice = await open({ id: 'alice', store })
    await alice.transact((tx) => tx.set('money', 1_000))
    await close(alice)
    const database = new Database(store)
    database.exec(damage)
    database.close()
    const again = await open({ id: 'alice', store })
    const why = 'the value of "money" was damaged on the disk'
    expect(() => again.get('money')).toThrow(why)
    expect(await failsWith(again.transact((tx) => tx.get('money')))).toContain(why)
    await again.transact((tx) => tx.set('money', 5))
    expect(again.get('money')).toBe(5)
  })

  test('in a letter that was set aside is named (MB-27)', async () => {
    const store = freshFile()
    const bob = await open({ id: 'bob', store, triesMax: 1, onPoison: 'setAside' })
    bob.on('letter', () => {
      throw new Error('no')
    })
    const alice = await open({ id: 'alice', store: null })
    await alice.to('bob').post('letter')
    await bob.take('alice', alice.batch('bob', 0))
    await close(bob)
    const database = new Database(store)
    database.exec(`UPDATE mail_dead SET why = 'yes'`)
    database.close()
    const again = await open({ id: 'bob', store })
    expect(() => again.dead()).toThrow('the dead letter 1 of alice was damaged')
  })
})
