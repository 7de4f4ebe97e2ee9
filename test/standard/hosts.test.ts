// Goal: in a closed room of hosts no face that is hidden is in any byte that a player's machine was
// ever sent, also when a host dies (SE-4, SE-18).
// Method: two hosts and three players in virtual time; what each was sent is searched for faces.
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { RIGHTS } from '../../packages/holdfast/src/machine.ts'
import { toyTicket } from '../../packages/sim/src/session-world.ts'
import { has } from './bits.ts'
import { open, type Stage } from './capture.ts'
import { readStandard } from './document.ts'
import { hearers, type Sent } from './ledger.ts'
import { Card, Chip, deal, FACES } from './pieces-capture.ts'

const standard = readStandard(
  readFileSync(new URL('../../docs/STANDARD.md', import.meta.url), 'utf8'),
)
const HOSTS = ['ida', 'ivo']
const PLAYERS = ['ada', 'bea', 'cy']

/** Players deal twice, and both hosts die. @returns all that was sent */
async function play(stage: Stage): Promise<Sent[]> {
  const { sim, sent, until, settled } = stage
  let tickets = 0
  const join = (name: string, rights: number, kind: 'node' | 'browser') => {
    const said = { game: 'dots', room: null, rights, id: `t${++tickets}`, uses: 1 }
    return stage.join(name, kind, { primaries: 'hosts', ticket: toyTicket(said) })
  }
  for (const name of HOSTS) await join(name, RIGHTS.play | RIGHTS.host, 'node')
  // A player on Node is no host, whatever it runs on.
  const ada = await join('ada', RIGHTS.play, 'node')
  const others = [
    await join('bea', RIGHTS.play, 'browser'),
    await join('cy', RIGHTS.play, 'browser'),
  ]
  const players = [ada, ...others]
  const have = (cards: number): boolean => players.every((one) => one.all(Card).length === cards)
  await until('a host stands by', () => players.every((one) => one.safety === 'backed-up'))
  await settled(ada.act(deal, null))
  await until('all see all', () => have(FACES.length))
  sim.crash('ida')
  await until('the other serves', () => players.every((one) => one.primary?.name === 'ivo'))
  await settled(ada.act(deal, null))
  await until('they go on', () => have(2 * FACES.length))
  // No player takes the place of the host that is gone, nor that of the last.
  expect(players.map(({ backup }) => backup)).toEqual([null, null, null])
  sim.crash('ivo')
  await sim.run(60_000)
  expect(players.map(({ status }) => status === 'live')).toEqual([false, false, false])
  return sent
}

test('hidden cards of a closed room of hosts are in no byte that a player was sent (SE-4, SE-18)', async () => {
  const sent = await play(open('star', [Card, Chip, deal], ['dots']))
  const to = hearers(standard, sent)
  const bytesTo = (who: string): Uint8Array[] =>
    sent.filter((_, at) => to[at] === who).map(({ bytes }) => bytes)
  const withFaces = (who: string): number =>
    bytesTo(who).filter((bytes) => FACES.some((face) => has(bytes, face))).length
  expect(PLAYERS.map((player) => bytesTo(player).length > 5)).toEqual([true, true, true])
  expect(PLAYERS.map(withFaces)).toEqual([0, 0, 0])
  // The search finds them where they are: with the host that stands by.
  expect(withFaces('ivo')).toBeGreaterThan(0)
})
