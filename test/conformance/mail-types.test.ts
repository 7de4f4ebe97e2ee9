// Goal: what a program of another build posts is checked where it comes in, and costs no other.
// Method: two processes with stores in files, over a WebSocket on loopback; one is older.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { letter, text, u8 } from '../../packages/mailbox/src/index.ts'
import { bundle } from './bundle.ts'
import { openMailboxes } from './open-mailboxes.ts'

const { folder, freshFile, open } = openMailboxes('types')

test('a letter of another build that does not fit is set aside, and the next is handled (AP-10)', async () => {
  const script = await bundle('test/conformance/mail-older-build.ts', join(folder, 'older'))
  const Gift = letter('gift', { hat: text(8), count: u8 })
  const bob = await open({ id: 'bob', types: [Gift], listen: { port: 0 } })
  const came: unknown[] = []
  bob.on(Gift, (tx, from, gift) => {
    tx.set(gift.hat, gift.count)
    came.push([from, gift])
  })
  const older = spawn(process.execPath, [script, bob.url!, freshFile()], { stdio: 'inherit' })
  expect(await once(older, 'exit')).toEqual([0, null])
  expect(came).toEqual([['old', { hat: 'top', count: 2 }]])
  expect([bob.counters.unfit, bob.get('top')]).toEqual([1, 2])
  expect(bob.dead()).toMatchObject([
    {
      peer: 'old',
      n: 1,
      type: 'gift',
      why: 'the letter "gift": field hat: takes 8 characters: 43',
    },
  ])
})
