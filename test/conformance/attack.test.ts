// Goal: one address cannot fill, stop or use up a hub that runs, and a room that plays beside it
// does not notice.
// Method: `holdfast serve`, a process that attacks it from addresses of loopback, and a room of
// real members, who move all the while and are joined by newcomers. `npm run soak -- attack` goes
// on for longer, from a thousand addresses, and judges pauses.
// Slow: each attack lasts for most of a second, and begins anew until it meets its limit.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Attack } from '../attack/attacks.ts'
import { type Outcome, Siege } from '../attack/siege.ts'
import { bundle } from './bundle.ts'
import { type HubProcess, startHubIn } from './hub-process.ts'

const MS = 750
const folder = mkdtempSync(join(tmpdir(), 'holdfast-attack-'))
let hub: HubProcess
let siege: Siege

beforeAll(async () => {
  const script = await bundle('test/attack/attacker.ts', join(folder, 'attacker'))
  hub = await startHubIn(folder)
  siege = await Siege.begin(hub, script, 4)
})
afterAll(async () => {
  await siege.end()
  rmSync(folder, { recursive: true })
})

const DONE_MIN = 50

async function borne(attack: Attack, addresses: number): Promise<Outcome> {
  for (;;) {
    const found = await siege.bear(attack, addresses, MS)
    expect([found.wrong, found.lost]).toEqual([0, []])
    expect([found.acknowledged > 0, found.joins.length > 0]).toEqual([true, true])
    expect(hub.isRunning()).toBe(true)
    // On a busy machine an attacker may just have started when its time is over.
    if (found.tally.done > DONE_MIN) return found
  }
}

/** The room that plays, and what an address may have. */
const ROOMS = 1 + 128
/** Its members and a newcomer, and what an address may have. */
const STREAMS = 4 + 1 + 256

/** It goes on until it meets one of these: a machine that is busy attacks slowly. */
async function met(attack: Attack, ...limits: string[]): Promise<void> {
  for (;;) {
    const { refused, rooms, streams } = await borne(attack, 1)
    expect(rooms).toBeLessThanOrEqual(ROOMS)
    expect(streams).toBeLessThanOrEqual(STREAMS)
    if (limits.some((limit) => (refused[limit] ?? 0) > 0)) return
  }
}

test('rooms that were opened to fill the hub are gone when nobody is left in them (SE-8)', async () => {
  // It meets that only when it has opened as many as an address may at once.
  await met('founding', 'address.registrations')
  await expect.poll(() => siege.rooms()).toBe(1)
})

test.each<[Attack, string, string?]>([
  // Those before left little for whoever spends much.
  ['attaching', 'address.registrations', 'hub.registrations'],
  ['unread', 'address.lists'],
  ['listing', 'address.lists'],
  ['knocking', 'stream.joins'],
  // On as many streams as an address has it meets that of the address.
  ['chatting', 'address.messages', 'stream.messages'],
  ['halfOpening', 'address.dials'],
])(
  '%s from one address meets %s (SE-8, SE-9, SE-10, SE-13, SE-16)',
  async (attack, limit, other = limit) => {
    await met(attack, limit, other)
  },
)

test('hoarding from one address makes room for itself alone (SE-9)', async () => {
  await met('hoarding', 'address.streams', 'address.opens')
})

test('those who ask to come in, and never do, keep nobody out (SE-13)', async () => {
  await borne('ghosting', 1)
})

test('nobody is sent more bytes than were sent in their name, by members or hub (SE-11)', async () => {
  const { tally } = await borne('reflecting', 10)
  expect(tally.got).toBeLessThanOrEqual(tally.sent)
  expect(tally.befell).toEqual({})
})

test('ten addresses that shout among themselves are not heard in the room (SE-14, SE-16)', async () => {
  await borne('shouting', 10)
})
