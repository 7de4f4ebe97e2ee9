// Goal: who wants a world waits for those who may have one, and no longer than is said.
// Method: a member by hand, who knows nothing of another that is here.
import { expect, test } from 'vitest'
import { shown } from '../../packages/holdfast/src/slots/protocol/fold.ts'
import { tick } from '../../packages/holdfast/src/slots/protocol/slots.ts'
import { game, hearing, member, NOW } from './machine.ts'

const BEGIN_MS = 2_000

test.each([
  ['one that never had a world', false, BEGIN_MS],
  ['one with a world of before', true, BEGIN_MS + 10_000],
] as const)(
  'M5: %s begins at the instant its wait is over, and no sooner (PR-2)',
  (_, hasOld, ms) => {
    const ada = member(1, 2)
    ada.standing = 'joining'
    ada.peers.get(2)!.standing = 'unknown'
    if (!hasOld) Object.assign(ada, { worlds: [], validWorlds: 0 })
    for (const waited of [0, ms - 1]) {
      tick(ada, game, NOW + waited, hearing())
      expect([waited, ada.standing]).toEqual([waited, 'joining'])
    }
    tick(ada, game, NOW + ms, hearing())
    expect([ada.standing, shown(ada, game)]).toEqual(['live', {}])
  },
)

test('M5: in a star the server begins, though somebody older waits for a world, too (PR-2)', () => {
  const cy = member(3)
  Object.assign(cy, { mesh: false, primary: 3, standing: 'joining' })
  for (const peer of cy.peers.values()) peer.standing = 'joining'
  tick(cy, game, NOW, hearing())
  expect(cy.standing).toBe('live')
})
