/**
 * The door as an application uses it: nothing here runs, it is compiled. What is wrong must stay an
 * error, so each line after `@ts-expect-error` fails to compile if it ever is none.
 */

import { action, angle, bool, bytes, HoldfastError, i8, i16, join, near, object } from 'holdfast'
import { oneOf, procedure, quaternion, ranged, text, u8, u16, u32, vec2, vec3 } from 'holdfast'
import type { Emitter, ListingEvents, Stop } from 'holdfast'
import type {
  ActionOutcome,
  CallOutcome,
  Collection,
  GiveOutcome,
  Listing,
  MemberInfo,
} from 'holdfast'
import type { ObjectHandle, Recovery, Session, StateOf, Status, TakeOutcome, Value } from 'holdfast'
import { join as joinPage } from 'holdfast/browser'
import { host, join as joinOnNode } from 'holdfast/node'

const Dot = object('dot', { pos: vec2(0, 100, 0.1), hue: u8 })
const Pot = object(
  'pot',
  {
    pos: vec2(-64, 64, 0.01),
    vel: vec2(-20, 20, 0.05),
    heading: angle(0.01),
    turn: ranged(-9, 9, 1),
  },
  { take: 'ask', onOwnerLeave: 'keep', motion: { follow: { pos: 'vel', heading: 'turn' } } },
)
const All = object(
  'all',
  {
    ...{ a: bool, b: i8, c: i16, d: u16, e: u32, f: text(9), g: bytes(8) },
    ...{ h: quaternion(10), i: vec3(0, 1, 0.1) },
  },
  { visibleTo: (state) => state.a },
)
const Eye = object('eye', { at: vec2(0, 9, 1) }, { eyes: 'at', visibleTo: near('at', 3) })
const hit = action('hit', (table, { n }: { n: number }, by) => {
  table.set(`hits ${by.player}`, n)
  return { left: n - 1 }
})
const clear = action('clear', (table) => table.delete('hits'))
const ping = procedure('ping', (word: string) => word.length)
const deal = action(
  'deal',
  { count: u8, to: oneOf('north', 'south') },
  (table, { count, to }, by) => {
    const side: 'north' | 'south' = to
    table.later(9, deal, { count: count - by.player, to: side })
    return { left: count }
  },
)
const pick = action('pick', { n: u8 }, (_table, { n }) => (n > 3 ? 'yes' : 'no'), {
  answer: oneOf('yes', 'no'),
})
const roll = procedure('roll', { sides: u8 }, ({ sides }) => sides.toFixed())
const ask = procedure('ask', { question: text(20) }, null, { answer: bool })
const tell = procedure('tell', { word: text(20) })

export async function uses(signal: AbortSignal): Promise<void> {
  const types = [Dot, Pot, All, Eye, hit, clear, ping]
  const session: Session = await join({ game: 'g', room: 'r', name: 'Ada', types, signal })
  await joinOnNode({ game: 'g', udp: null, serves: false, primaries: 'hosts', topology: 'mesh' })
  await host({ game: 'g', udp: { host: '0.0.0.0', port: 0 } })
  await joinPage({ game: 'g', token: session.token })
  const dot = session.create(Dot, { pos: [1, 2] })
  dot.set({ hue: 3 })
  const state: StateOf<{ pos: typeof Dot.schema.fields.pos; hue: typeof u8 }> = dot.state
  const at: readonly [number, number] = state.pos
  const took: TakeOutcome = await dot.take()
  const gave: GiveOutcome = await dot.give(session.me)
  if (!took.ok) console.log(took.code, took.reason, gave.ok, at)
  const dots: Collection<{ pos: typeof Dot.schema.fields.pos; hue: typeof u8 }> = session.all(Dot)
  const handles: Listing<ObjectHandle> = session.all(Eye)
  for (const { owner, mine } of dots) console.log(owner?.name, mine, handles.length)
  const outcome: ActionOutcome<{ left: number }> = await session.act(hit, { n: 4 })
  if (outcome.ok) console.log(outcome.value.left.toFixed())
  else console.log(outcome.reason)
  const value: Value | undefined = session.table.get('hits')
  const pinged = await session.call('primary', ping, 'word', { timeoutMs: 9 })
  const length: number = pinged.ok ? pinged.value : 0
  const stop: () => void = session.on('primary', (who: MemberInfo | null) => console.log(who?.name))
  session.on('status', (status: Status) => console.log(status, value, length), {
    once: true,
    signal,
  })
  session.on('recovered', ({ witness }: Recovery) => console.log(witness?.name))
  stop()
  const error = new HoldfastError('full', 'no room')
  console.log(error.code === 'full', session.debug.figures().path)
}

export async function usesFields(session: Session): Promise<void> {
  const dealt: ActionOutcome<{ left: number }> = await session.act(deal, { count: 3, to: 'north' })
  const picked: ActionOutcome<'yes' | 'no'> = await session.act(pick, { n: 3 })
  const rolled: CallOutcome<string> = await session.call('primary', roll, { sides: 6 })
  const answer: CallOutcome<boolean> = await session.call(session.me, ask, { question: 'war?' })
  session.note('all', tell, { word: 'hi' })
  session.answer(ask, ({ question }) => question.length > 3)
  console.log(dealt.ok, picked.ok, rolled.ok, answer.ok)
  if (!rolled.ok && rolled.code === 'timeout') console.log(rolled.by?.name)
}

export function usesTable({ table }: Session): () => void {
  const at: Value | undefined = table.get('at')
  const keys: string[] = table.keys('hits ')
  console.log(at, keys.length)
  return table.on('changed', (changed) => console.log(changed.join()), { once: true })
}

export async function usesEvents(session: Session, gone: AbortSignal): Promise<void> {
  await using other = await join({ game: 'g' })
  const all: Emitter<ListingEvents<ObjectHandle>> = session.all(Eye)
  using added = all.on('added', (eye) => console.log(eye.id), { signal: gone })
  const stop: Stop = session.all(Dot).on('changed', ({ state }) => console.log(state.hue))
  stop()
  added()
  console.log(other.status)
}

export function misusesOfEvents(session: Session): void {
  const [dot] = session.all(Dot)
  // @ts-expect-error A state never changes in place.
  dot!.state.hue = 7
  // @ts-expect-error Nor does what is drawn.
  dot!.view().hue = 7
  // @ts-expect-error There is no such event of a list.
  session.all(Dot).on('gone', () => {})
  // @ts-expect-error A dot has no glaze.
  session.all(Dot).on('added', ({ state }) => console.log(state.glaze))
}

export function misusesOfTable(session: Session): void {
  // @ts-expect-error Actions alone write it.
  console.log(session.table.set)
  // @ts-expect-error A session has a table, and is none.
  console.log(session.get)
  // @ts-expect-error The table tells of itself.
  session.on('table', () => {})
  // @ts-expect-error There is no such event.
  session.table.on('added', () => {})
}

export async function misusesOfOutcomes(session: Session): Promise<void> {
  const rolled = await session.call('primary', roll, { sides: 6 })
  // @ts-expect-error Whether there is an answer is to be asked first.
  console.log(rolled.value)
  // @ts-expect-error A call is not refused.
  console.log(!rolled.ok && rolled.code === 'refused')
  const dealt = await session.act(deal, { count: 3, to: 'north' })
  // @ts-expect-error Nobody is quicker with an action.
  console.log(!dealt.ok && dealt.code === 'late')
  // @ts-expect-error Why not is `reason`.
  console.log(!dealt.ok && dealt.why)
}

export async function misusesOfFields(session: Session): Promise<void> {
  // @ts-expect-error A number.
  await session.act(deal, { count: '3', to: 'north' })
  // @ts-expect-error One of two words.
  await session.act(deal, { count: 3, to: 'east' })
  // @ts-expect-error One is missing.
  await session.act(deal, { count: 3 })
  // @ts-expect-error No such field.
  await session.act(deal, { count: 3, to: 'north', by: 1 })
  // @ts-expect-error What came in is not written.
  action('a', { n: u8 }, (_table, args) => (args.n = 3))
  // @ts-expect-error It has no such field.
  action('a', { n: u8 }, (_table, args) => Number(args.m))
  // @ts-expect-error It answers at once.
  action('a', { n: u8 }, async (_table, { n }) => n)
  // @ts-expect-error Its answer is a number.
  action('a', { n: u8 }, () => 'no', { answer: u8 })
  // @ts-expect-error A word is no field.
  action('a', { n: 'u8' }, () => 0)
  // @ts-expect-error A number.
  await session.call('primary', roll, { sides: '6' })
  // @ts-expect-error Its answer is true or false.
  session.answer(ask, () => 'maybe')
  // @ts-expect-error Its answer is true or false.
  procedure('ask', { question: text(20) }, () => 'maybe', { answer: bool })
}

export async function misuses(): Promise<void> {
  // @ts-expect-error A game has a name.
  await join({ room: 'r' })
  // @ts-expect-error A misspelt option.
  await join({ game: 'g', sever: 'wss://h' })
  // @ts-expect-error Fields are not a type.
  await join({ game: 'g', types: [{ pos: vec2(0, 1, 1) }] })
  // @ts-expect-error One of two words.
  await join({ game: 'g', primaries: 'none' })
  // @ts-expect-error One of two words.
  await join({ game: 'g', topology: 'ring' })
  // @ts-expect-error Pages have no datagrams.
  await joinPage({ game: 'g', udp: null })
  // @ts-expect-error A word is no field.
  object('x', { a: 'number' })
  // @ts-expect-error A list is no field.
  object('x', { a: [u8] })
  // @ts-expect-error A vector has bounds and a step.
  vec2()
  // @ts-expect-error A text has a length.
  text()
  // @ts-expect-error Nobody takes it so.
  object('x', { a: u8 }, { take: 'never' })
  // @ts-expect-error There is no such rule.
  object('x', { a: u8 }, { onOwnerLeave: 'nonsense' })
  // @ts-expect-error A field that the type has not.
  object('x', { a: vec2(0, 1, 1) }, { motion: { follow: { b: 'a' } } })
  // @ts-expect-error What follows a vector is a vector.
  object('x', { a: vec2(0, 1, 1), b: u8 }, { motion: { follow: { a: 'b' } } })
}

export async function misusesOfObjects(session: Session): Promise<void> {
  const dot = session.create(Dot)
  // @ts-expect-error A field of another type.
  session.create(Dot, { heading: 1 })
  // @ts-expect-error A colour is a number.
  session.create(Dot, { hue: 'red' })
  // @ts-expect-error A place has two numbers.
  dot.set({ pos: [1, 2, 3] })
  // @ts-expect-error A place in a state is not written.
  dot.state.pos[0] = 7
  // @ts-expect-error It is given to a member, not to a name.
  await dot.give('Ada')
  // @ts-expect-error An action is run by `act`.
  session.create(hit)
}
