// Goal: no letter is lost, doubled or out of order, whenever processes of three mailboxes among
// whom money moves die or stand still, over sockets and over a session.
// Method: SIGKILL and SIGSTOP at random moments of a steady stream of payments; real files.
// Slow: each of twenty kills starts a process anew, and some stand still for up to three seconds.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { bundle } from './bundle.ts'
import { startHubIn } from './hub-process.ts'
import { killMailboxes } from './mail-kill.ts'

const KILLS = 20

test(`S1, S8, S31: ${KILLS} kills while money moves among three: the sum, the order and all rows are right`, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-kill-'))
  const hub = await startHubIn(folder)
  try {
    const script = await bundle('test/conformance/mail-life.ts', join(folder, 'life'))
    const found = await killMailboxes({ script, hub: hub.url, folder, kills: KILLS, seed: 7 })
    expect(found.wrong).toEqual([])
    expect(found.letters).toBeGreaterThan(KILLS)
    expect(found.overSession).toBeGreaterThan(0)
    expect(found.stops).toBeGreaterThan(0)
  } finally {
    await hub.kill('SIGKILL')
    rmSync(folder, { recursive: true })
  }
}, 600_000)
