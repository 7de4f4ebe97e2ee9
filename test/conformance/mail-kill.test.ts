// Goal: no letter is lost, doubled or out of order, whenever the processes of two mailboxes die.
// Method: SIGKILL at random moments of a steady stream of letters and answers; real files.
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { killMailboxes } from './mail-kill.ts'

const KILLS = 300
const DOOR = new URL('../../dist/mailbox.js', import.meta.url)

test(`S1, S8, S31: ${KILLS} kills: all letters take effect once and in order, all posts that returned are kept`, async () => {
  if (!existsSync(DOOR)) throw new Error('run `npx tsc -b` first: child processes need dist/')
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-kill-'))
  try {
    const script = fileURLToPath(new URL('mail-life.js', import.meta.url))
    const found = await killMailboxes({ script, door: DOOR.href, folder, kills: KILLS, seed: 7 })
    expect(found.wrong).toEqual([])
    expect(found.letters).toBeGreaterThan(KILLS)
  } finally {
    rmSync(folder, { recursive: true })
  }
}, 600_000)
