/** As session.ts: actions, calls, pieces and slots of the door, and uses that must stay wrong. */

import { action, bool, piece, procedure, reject, secret, slots } from 'holdfast'
import { text, u8, u32, vec2 } from 'holdfast'
import type {
  ActionOutcome,
  ActionType,
  CallOutcome,
  Face,
  GameTable,
  LostHold,
  PieceHandle,
  PieceOutcome,
  Session,
} from 'holdfast'
import type { SlotsHandle, SlotsTurn } from 'holdfast'

const Card = piece(
  'card',
  {
    at: vec2(0, 100, 0.5),
    up: bool,
    hand: u32,
    face: secret(text(9), (card, who) => card['hand'] === who),
  },
  {
    hold: 'must',
    rules: {
      update: (card: Face<{ up: boolean }>, patch) => (card.heldBy === 0 ? reject('no') : patch),
    },
  },
)
const deal = action('deal', (table: GameTable, count: number) => {
  const card = table.create(Card, { at: [1, 2], face: 'ace' })
  card.raise()
  table.later(1_000, 'deal', count - 1)
  return table.all(Card).length
})
const Count = slots('count', {
  ms: 200,
  start: { n: 0 },
  rule: (state, acts, turn: SlotsTurn) => ({ n: state.n + acts.length + turn.slot }),
  act: { by: u8 },
})
const ask = procedure('ask', async (word: string) => Promise.resolve({ size: word.length }))
const clear = action('clear', (table) => table.get('a') === 1)
const named = action('named', { name: text(9) }, (_table, { name }) => name)
const ping = procedure('ping', () => 'pong')

export async function uses(session: Session): Promise<void> {
  for (const card of session.all(Card)) {
    const handle: PieceHandle<typeof Card.schema.fields> = card
    const face: string | null = handle.state.face
    const grabbed: PieceOutcome = await card.grab({ raise: true, wrest: true })
    if (!grabbed.ok && grabbed.code === 'late') console.log(grabbed.by?.name, face)
    await card.update({ at: [3, 4] })
    await card.release({ up: true }, { signal: AbortSignal.timeout(9) })
    card.on('lost', ({ why }: LostHold) => console.log(why), { once: true })
  }
  const dealt = await session.act(deal, 3)
  if (dealt.ok) console.log(dealt.value.toFixed())
  const asked: CallOutcome<{ size: number }> = await session.call(session.me, ask, 'word')
  const bare: ActionOutcome<boolean> = await session.act(clear)
  const pinged: CallOutcome<string> = await session.call('primary', ping)
  const late: CallOutcome<string> = await session.call('primary', ping, undefined, { timeoutMs: 9 })
  session.note('all', ping)
  if (!bare.ok && bare.code === 'unfit') console.log(pinged.ok, late.ok)
  const size: number = asked.ok ? asked.value.size : 0
  session.note('all', ask, 'word')
  session.answer(ask, (word) => ({ size: word.length }))
  const world: SlotsHandle<{ n: number }, { by: number }> = session.part(Count)
  world.act({ by: 3 })
  console.log(world.state.n, size)
}

export async function wraps<Args>(
  session: Session,
  type: ActionType<Args, number>,
  args: Args,
): Promise<number> {
  const outcome = await session.act(type, args)
  return outcome.ok ? outcome.value : 0
}

export async function misuses(session: Session): Promise<void> {
  // @ts-expect-error An action has a function.
  action('x')
  // @ts-expect-error What it does after an `await` would be lost.
  action('x', async (table: GameTable) => {
    table.set('a', 1)
    await Promise.resolve()
  })
  // @ts-expect-error A table holds scalars.
  action('x', (table) => table.set('a', { b: 1 }))
  // @ts-expect-error A table holds no undefined.
  action('x', (table) => table.set('a', undefined))
  // @ts-expect-error An action is named by its definition.
  await session.act('deal', 3)
  // @ts-expect-error It takes a number.
  await session.act(deal, 'three')
  // @ts-expect-error It wants arguments.
  await session.act(deal)
  // @ts-expect-error Its fields are not nothing.
  await session.act(named, undefined)
  // @ts-expect-error A call wants them too.
  await session.call('primary', ask)
  // @ts-expect-error And a note does.
  session.note('all', ask)
  // @ts-expect-error A procedure is no action.
  await session.act(ask, 'word')
  // @ts-expect-error Nobody is called so.
  await session.call('backup', ask, 'word')
  // @ts-expect-error It takes a word.
  await session.call('primary', ask, 3)
}

export async function misusesOfPieces(
  session: Session,
  card: PieceHandle<typeof Card.schema.fields>,
): Promise<void> {
  // @ts-expect-error There is no such event.
  session.on('nonsense', () => {})
  // @ts-expect-error A status is a word.
  session.on('status', (status: number) => console.log(status))
  // @ts-expect-error A field that cards have not.
  await card.update({ suit: 'hearts' })
  // @ts-expect-error Nobody hides a value by writing null.
  await card.update({ face: null })
  // @ts-expect-error A piece has no owner: who holds it is `holder`.
  console.log(card.owner)
  // @ts-expect-error Pieces are made by actions.
  session.create(Card)
  // @ts-expect-error One of two words.
  piece('x', { a: u8 }, { hold: 'perhaps' })
  // @ts-expect-error A secret says who sees it.
  secret(u8)
  // @ts-expect-error A world begins somewhere.
  slots('w', { ms: 200, act: { by: u8 }, rule: (state: number) => state })
  // @ts-expect-error A misspelt option.
  slots('w', { msec: 200, start: 0, act: { by: u8 }, rule: (state: number) => state })
  // @ts-expect-error An act has the fields that were named.
  session.part(Count).act({ to: 3 })
  // @ts-expect-error An object is no world.
  session.part(Card)
}
