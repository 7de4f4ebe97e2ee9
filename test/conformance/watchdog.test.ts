// Goal: a handler that never returns is named, from outside of the loop that it holds.
// Method: a process with a mailbox whose handler runs for ever; what it says, and SIGKILL.
// Slow: what is to hold the loop for too long takes its seconds.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { expect, test } from 'vitest'

const DOOR = new URL('../../packages/holdfast/dist/mailbox/src/index.js', import.meta.url)
const DRIVER = new URL(
  '../../packages/holdfast/dist/mailbox/src/drivers/watchdog.js',
  import.meta.url,
)

test('a handler that runs for ever is named by another thread (MB-28)', async () => {
  const script = `
    const { openMailbox } = await import(${JSON.stringify(DOOR.href)})
    const alice = await openMailbox({ id: 'alice', store: null })
    const bob = await openMailbox({ id: 'bob', store: null, watchdogMs: 1000 })
    alice.on('unseen', () => {})
    // For as good as ever: a test that fails leaves nobody behind.
    const end = Date.now() + 120_000
    bob.on('letter', (_tx, _from, body) => { while (body === 'for ever' && Date.now() < end); })
    for (const body of ['at once', 'for ever']) await alice.to('bob').post(body)
    await bob.take('alice', alice.batch('bob', 0))`
  const child = spawn(process.execPath, ['--input-type=module', '-e', script])
  const lines = createInterface({ input: child.stderr })
  const [said] = (await once(lines, 'line')) as [string]
  child.kill('SIGKILL')
  expect(said).toMatch(
    /^holdfast: bob's handler of letters, with letter 2 of alice, has held the loop for [0-9.]+ s/,
  )
})

test('who is quick, or idle, is not named, and who is slow is named once (MB-28)', async () => {
  const script = `
    const { startWatchdog } = await import(${JSON.stringify(DRIVER.href)})
    const { existsSync } = await import('node:fs')
    const cell = new Int32Array(new SharedArrayBuffer(4))
    const hold = (ms) => Atomics.wait(cell, 0, 0, ms)
    const dog = startWatchdog(1000)
    dog.begin('one that is done'); dog.end()
    hold(1500)
    for (let i = 0; i < 12; i++) { dog.begin('a quick one'); hold(100); dog.end() }
    dog.begin('a slow one')
    // Until it was named, and then for as long again as that takes.
    while (!existsSync(process.argv[1])) hold(20)
    hold(2000); dog.end()
    dog.stop()`
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-watchdog-'))
  const named = join(folder, 'named')
  const child = spawn(process.execPath, ['--input-type=module', '-e', script, named])
  const said: string[] = []
  createInterface({ input: child.stderr }).on('line', (line) => {
    said.push(line)
    writeFileSync(named, '')
  })
  await once(child, 'close')
  rmSync(folder, { recursive: true })
  expect(said).toEqual([expect.stringMatching(/^holdfast: a slow one has held the loop for /)])
})

test('a watchdog keeps no process, and a page refuses one (MB-28)', async () => {
  const script = `
    const { openMailbox } = await import(${JSON.stringify(DOOR.href)})
    const bob = await openMailbox({ id: 'bob', store: null, watchdogMs: 50 })
    console.log('open')`
  const child = spawn(process.execPath, ['--input-type=module', '-e', script])
  const [code] = (await once(child, 'exit')) as [number]
  expect(code).toBe(0)
})
