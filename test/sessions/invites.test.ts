// Goal: into a room by invitation comes who was invited, and nobody else, as many as it says, also
// after a restart of the hub; lists do not name it (SE-18).
// Method: whole sessions in virtual time with the shipped hub; strangers guess, reuse and forge.
import { expect, test } from 'vitest'
import type { InternalSession as Session } from '../../packages/holdfast/src/join/session-impl.ts'
import type { JoinOptions } from '../../packages/holdfast/src/index.ts'
import type { InviteOptions } from '../../packages/holdfast/src/join/invites.ts'
import { type SessionWorld, world } from '../../packages/sim/src/session-world.ts'
import { diskOf } from '../stored/disks.ts'

const PRIVATE = { game: 'cards', entry: 'invite', keepRoom: false } as const

async function settled<Answer>(w: SessionWorld, asked: Promise<Answer>): Promise<Answer> {
  let answer: { value: Answer } | null = null
  void asked.then((value) => (answer = { value }))
  await w.runUntil(() => answer !== null, 20_000)
  return answer!.value
}

async function invited(w: SessionWorld, by: Session, options?: InviteOptions): Promise<string> {
  const outcome = await settled(w, by.invite(options))
  return outcome.ok ? outcome.value : outcome.reason
}

/** What came of joining: `in`, or code and sentence. */
async function met(w: SessionWorld, options: JoinOptions): Promise<string> {
  return w.join(options).then(
    () => 'in',
    ({ code, message }: { code: string; message: string }) => `${code}: ${message}`,
  )
}

async function room(): Promise<{ w: SessionWorld; ada: Session }> {
  const w = world({ seed: 4, conditions: 'rtt=20' })
  const ada = await w.join({ ...PRIVATE, name: 'Ada' }, { name: 'ada' })
  await w.run(1_000)
  return { w, ada }
}

test('who is invited comes in, once, and comes back without; others do not (SE-18)', async () => {
  const { w, ada } = await room()
  const ticket = await invited(w, ada)
  expect(ticket).toMatch(/^invite\.[0-9a-f]{64}$/)
  const forged = `${ticket.slice(0, -1)}${ticket.endsWith('0') ? '1' : '0'}`
  expect(await met(w, { ...PRIVATE, name: 'Eve' })).toBe('forbidden: this room is by invitation')
  // Whatever a newcomer says of the room, it is that of its founder.
  expect(await met(w, { game: 'cards', name: 'Eve' })).toMatch(/^forbidden/)
  expect(await met(w, { ...PRIVATE, name: 'Eve', ticket: forged })).toMatch(/no such invitation/)
  const grace = await w.join({ ...PRIVATE, name: 'Grace', ticket }, { name: 'grace' })
  expect(await met(w, { ...PRIVATE, name: 'Eve', ticket })).toMatch(/the invitation was used/)
  w.kill(grace)
  await w.run(3_000)
  expect(await met(w, { ...PRIVATE, name: 'Grace', token: grace.token })).toBe('in')
  expect(await met(w, { ...PRIVATE, name: 'Ada', token: ada.token })).toBe('in')
})

test('an invitation to a sealed room carries its key: who comes by it opens the room (SE-18)', async () => {
  const w = world({ seed: 4, conditions: 'rtt=20' })
  const sealed = { ...PRIVATE, keepRoom: { key: 'a6'.repeat(32) } }
  const ada = await w.join({ ...sealed, name: 'Ada' })
  await w.run(1_000)
  const [ticket, watch] = [await invited(w, ada), await invited(w, ada, { watch: true })]
  expect(ticket).toMatch(/^invite\.[0-9a-f]{64}~(a6){32}$/)
  expect(watch).toMatch(/^invite\.[0-9a-f]{64}$/)
  const { keepRoom: _, ...place } = PRIVATE
  const grace = await w.join({ ...place, name: 'Grace', ticket })
  await w.run(1_000)
  // She has the key, so what she serves is kept.
  expect(await invited(w, grace)).toMatch(/~(a6){32}$/)
  await settled(w, Promise.all([ada.leave(), grace.leave()]))
  await w.run(1_000)
  const [session, player, seed] = grace.token.split('.')
  const token = [session, player, seed].join('.')
  expect(await met(w, { ...place, name: 'Grace', token })).toMatch(/^forbidden: .* sealed/)
  // Her own token carries the key as well (N-2).
  expect(await met(w, { ...place, name: 'Grace', token: grace.token })).toBe('in')
  const { records, blobs } = await diskOf(w)
  const disk = [...records.values(), ...blobs.values()]
  expect(disk.length).toBeGreaterThan(1)
  expect(disk.filter((bytes) => Buffer.from(bytes).includes('a6a6', 'hex'))).toEqual([])
})

test('an invitation to a room that is not sealed carries no key, whoever has one (SE-18)', async () => {
  const { w, ada } = await room()
  const key = 'a6'.repeat(32)
  const wish = { ...PRIVATE, name: 'Grace', keepRoom: { key } }
  const grace = await w.join({ ...wish, ticket: await invited(w, ada) })
  await w.run(1_000)
  expect(await invited(w, grace)).toMatch(/^invite\.[0-9a-f]{64}$/)
})

test('one invitation is for as many as it says, and one to watch is to watch (SE-18)', async () => {
  const { w, ada } = await room()
  const [both, watch] = await Promise.all(
    [{ uses: 2 }, { watch: true }].map((options) => invited(w, ada, options)),
  )
  const grace = await w.join({ ...PRIVATE, name: 'Grace', ticket: both! })
  await w.join({ ...PRIVATE, name: 'Linus', ticket: both! })
  expect(await met(w, { ...PRIVATE, name: 'Eve', ticket: both! })).toMatch(/was used/)
  const eve = await w.join({ ...PRIVATE, name: 'Eve', ticket: watch! })
  expect(eve.me.watches).toBe(true)
  await w.run(2_000)
  expect(await invited(w, eve)).toBe('spectators cannot invite')
  // Each who plays invites.
  expect(await invited(w, grace)).toMatch(/^invite/)
})

test('a hub that starts again knows who was invited and who came (SE-18)', async () => {
  const { w, ada } = await room()
  const [used, open] = [await invited(w, ada), await invited(w, ada)]
  await w.join({ ...PRIVATE, name: 'Grace', ticket: used })
  await w.run(1_000)
  w.killHub()
  w.restartHub()
  await w.run(3_000)
  expect(await met(w, { ...PRIVATE, name: 'Eve', ticket: used })).toMatch(/was used/)
  expect(await met(w, { ...PRIVATE, name: 'Linus', ticket: open })).toBe('in')
})

test('nobody is invited into a room that is open, nor into one that is over (SE-18)', async () => {
  const { w, ada } = await room()
  const ticket = await invited(w, ada)
  void ada.leave()
  await w.run(3_000)
  expect(await met(w, { ...PRIVATE, name: 'Grace', ticket })).toMatch(/is over/)
  const open = await w.join({ game: 'cards', room: 'open', name: 'Bob' })
  await w.run(1_000)
  expect(await invited(w, open)).toBe('anyone may join this room: it takes no invitations')
  await expect(open.invite({ uses: 0 })).rejects.toThrow('uses is 1 to 256: 0')
  open.end('left')
  await expect(open.invite()).rejects.toMatchObject({ code: 'left' })
})

test('a hub that goes away meanwhile is told as such, and nobody waits for ever (SE-18)', async () => {
  const { w, ada } = await room()
  w.killHub()
  const outcome = await settled(w, ada.invite())
  expect(outcome).toMatchObject({ ok: false, code: 'lost' })
})
