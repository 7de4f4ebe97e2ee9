// Goal: what hands on one table say, and what the one who leads makes of it, is kept word for word.
// Method: the shipped part on states of the test, messages in hand; UPDATE=1 rewrites.
import { test } from 'vitest'
import { piece, reject, secret, u8 } from '../../packages/holdfast/src/index.ts'
import { compareTranscript } from '../transcript.ts'
import { Stage } from './stage.ts'

const AT = 0
const FACE = 1
const rules = {
  update: <Patch extends { at?: number }>(_piece: unknown, patch: Patch) => {
    if (patch.at === 200) return reject('off the table')
    return patch.at === undefined ? patch : { ...patch, at: Math.min(patch.at, 150) }
  },
}
const Chip = piece('chip', { at: u8 }, { rules })
const Card = piece(
  'card',
  { at: u8, face: secret(u8, (card, who) => card.heldBy === who || Number(card['at']) > 100) },
  { rules },
)

test('O4, O11, O33, O54: two hands on one chip (AP-19)', () => {
  const stage = new Stage([Chip.rules], 2)
  stage.script.scene('ada grabs a chip and moves it; bob sees it')
  const ada = [
    stage.updates('ada', 1, { hold: 'grab' }),
    stage.updates('ada', 1, { set: { [AT]: 5 } }),
  ]
  for (const arrives of ada) arrives()
  stage.hears('ada')
  stage.hears('bob')
  stage.sees('bob', 1)
  stage.script.scene('bob moves it, though she holds it')
  stage.updates('bob', 1, { set: { [AT]: 9 } })()
  stage.hears('bob')
  stage.script.scene('she lets go; both grab it before either hears, and bob is first')
  stage.updates('ada', 1, { hold: 'release' })()
  for (const name of ['ada', 'bob'] as const) stage.hears(name)
  const hers = stage.updates('ada', 1, { hold: 'grab' })
  const further = stage.updates('ada', 1, { set: { [AT]: 7 } })
  stage.updates('bob', 1, { hold: 'grab' })()
  hers()
  further()
  stage.hears('ada')
  stage.hears('bob')
  for (const name of ['ada', 'bob'] as const) stage.sees(name, 1)
  stage.script.scene('ada wrests it from him')
  stage.updates('ada', 1, { hold: 'wrest' })()
  stage.hears('ada')
  stage.hears('bob')
  compareTranscript('pieces-hands', stage.script.lines)
})

test('O39, O40, O45: updates that are refused, or done otherwise (AP-19)', () => {
  const stage = new Stage([Chip.rules], 2)
  stage.script.scene('off the table: refused, and what was built on it is void')
  const moved = [200, 20].map((at) => stage.updates('ada', 1, { set: { [AT]: at } }))
  for (const arrives of moved) arrives()
  stage.hears('ada')
  stage.hears('bob')
  stage.sees('ada', 1)
  stage.script.scene('what bob does meanwhile is none of hers')
  const late = stage.updates('bob', 1, { set: { [AT]: 30 } })
  stage.updates('ada', 1, { set: { [AT]: 200 } })()
  late()
  for (const name of ['ada', 'bob'] as const) stage.hears(name)
  for (const name of ['ada', 'bob'] as const) stage.sees(name, 1)
  stage.script.scene('too far: done, but not just so')
  stage.updates('bob', 2, { set: { [AT]: 180 } })()
  stage.hears('bob')
  stage.sees('bob', 2)
  compareTranscript('pieces-refused', stage.script.lines)
})

test('O34, O53, O57: a hidden face, levels, and who comes back (AP-19)', () => {
  const stage = new Stage([Card.rules], 2)
  stage.script.scene('ada grabs a card: she sees its face, bob does not; she writes on it')
  stage.updates('ada', 1, { hold: 'grab' })()
  stage.hears('ada')
  stage.updates('ada', 1, { set: { [FACE]: 13 } })()
  stage.hears('ada')
  stage.hears('bob')
  for (const name of ['ada', 'bob'] as const) stage.sees(name, 1)
  stage.script.scene('she puts it down, on top of all: both see it')
  stage.updates('ada', 1, { hold: 'release', set: { [AT]: 120 }, z: 'b12' })()
  stage.hears('ada')
  stage.hears('bob')
  for (const name of ['ada', 'bob'] as const) stage.sees(name, 1)
  stage.script.scene('she takes it up again: he sees it no more')
  stage.updates('ada', 1, { hold: 'grab', set: { [AT]: 1 } })()
  stage.hears('ada')
  stage.hears('bob')
  stage.sees('bob', 1)
  stage.script.scene('he writes on a card that he does not see')
  stage.updates('bob', 2, { set: { [FACE]: 1 } })()
  stage.hears('bob')
  stage.script.scene(
    'bob is away while she moves the card, and comes back with an update of his own',
  )
  const his = stage.updates('bob', 2, { set: { [AT]: 60 } })
  stage.updates('ada', 1, { set: { [AT]: 2 } })()
  stage.hears('ada')
  stage.comesBack('bob')
  his()
  stage.hears('bob')
  stage.hears('ada')
  for (const id of [1, 2]) stage.sees('bob', id)
  compareTranscript('pieces-faces', stage.script.lines)
})
