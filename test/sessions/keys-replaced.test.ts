// Goal: each key can be replaced, and what the old one gave is worth nothing then; what all see of
// each other is no more than docs/security.md says.
// Method: whole sessions in virtual time.
import { expect, test } from 'vitest'
import { action } from '../../packages/holdfast/src/index.ts'
import { world } from '../../packages/sim/src/session-world.ts'
import { SEED_RECORD } from '../../packages/hub/src/server/hub-key.ts'

const note = action('note', (table, { text }: { text: string }) => table.set('text', text))
const inn = { game: 'inn', types: [note] }

test('a hub that starts with a new key is taken by those who play, and lets newcomers in (N-28)', async () => {
  const w = world({ seed: 71, conditions: 'rtt=20' })
  const ada = await w.join({ ...inn, name: 'Ada' })
  const bea = await w.join({ ...inn, name: 'Bea' })
  await w.runUntil(() => bea.safety === 'backed-up', 10_000)
  const before = ada.member!.hubKey!
  const { store } = w.sim.node('hub')
  const { rev } = new Map(store.entries()).get(SEED_RECORD)!
  store.cas({ key: SEED_RECORD, rev, value: null, blobs: [] }, () => {})
  await w.run(100)
  w.killHub()
  w.restartHub()
  await w.run(5_000)
  expect([ada.status, bea.status]).toEqual(['live', 'live'])
  const after = ada.member!.hubKey!
  expect(after).not.toEqual(before)
  const cy = await w.join({ ...inn, name: 'Cy' })
  expect(cy.member!.hubKey).toEqual(after)
  // A takeover is granted by the new key.
  w.kill(ada)
  await w.runUntil(() => cy.primary?.name === 'Bea', 20_000)
  expect([cy.primary?.name, bea.status]).toEqual(['Bea', 'live'])
})

test('whose token was taken comes as somebody else, and the taken one is banned (N-28)', async () => {
  const w = world({ seed: 72, conditions: 'rtt=20' })
  const ada = await w.join({ ...inn, name: 'Ada' })
  const bea = await w.join({ ...inn, name: 'Bea' })
  await w.runUntil(() => bea.safety === 'backed-up', 10_000)
  const { token, me } = bea
  const thief = await w.join({ ...inn, name: 'Bea', token })
  await w.runUntil(() => bea.status === 'lost', 10_000)
  expect([thief.me.player, bea.code]).toEqual([me.player, 'elsewhere'])
  const again = await w.join({ ...inn, name: 'Bea' })
  expect(again.me.player).not.toBe(me.player)
  void ada.ban(thief.me.player, 'it is not Bea')
  await w.runUntil(() => thief.status === 'lost', 10_000)
  expect(thief.code).toBe('banned')
  await expect(w.join({ ...inn, token })).rejects.toMatchObject({ code: 'banned' })
  expect(again.status).toBe('live')
})

test('all in a room see where processes on Node listen, and of pages nothing (N-28)', async () => {
  const w = world({ seed: 73, conditions: 'rtt=20' })
  const node = await w.join({ ...inn, name: 'node' }, { kind: 'node', name: 'n1' })
  const page = await w.join({ ...inn, name: 'page' }, { kind: 'browser' })
  await w.run(1_000)
  const { members } = page.member!.session.client.view
  expect(members.map(({ name, addresses }) => [name, addresses])).toEqual([
    ['node', ['sim:n1']],
    ['page', []],
  ])
  expect(node.members.map((one) => Object.keys(one)).flat()).not.toContain('addresses')
})
