/** As session.ts: the doors of hubs, mailboxes and the simulator, and uses that must stay wrong. */

import { createServer } from 'node:http'
import { hub, type HubHandle, type HubOptions } from 'holdfast/hub'
import { letter, type Mailbox, type MailValue, openMailbox, text } from 'holdfast/mailbox'
import type { Adopted, Range, Transaction, WaitingLetter } from 'holdfast/mailbox'
import { decode, definePart, encode, refuse } from 'holdfast/part'
import type { OperationOutcome, PartHost, PartType } from 'holdfast/part'
import { type SharedDocument, yDoc } from 'holdfast/yjs'
import type { Awareness } from 'y-protocols/awareness'
import type * as Y from 'yjs'
import { check, createWorld, enact, type Model, render, world } from 'holdfast/sim'
import { letters, offerMail, overSession, type Session, u8 } from 'holdfast'

export async function usesHub(): Promise<void> {
  const options: HubOptions = { server: createServer(), path: '/hub', games: ['duel'], store: null }
  const rooms: HubHandle = hub(options)
  console.log(rooms.health().ok, rooms.metrics(), rooms.sessions().length)
  await rooms.close()
  // @ts-expect-error Where the register is kept is said: null is memory.
  hub({ server: createServer() })
  // @ts-expect-error A port is no server.
  hub({ server: 8700, store: null })
  // @ts-expect-error A misspelt option.
  hub({ server: createServer(), store: null, game: 'duel' })
}

export async function usesMailbox(session: Session): Promise<void> {
  const box: Mailbox = await openMailbox({ id: 'ada', store: 'ada.db', accept: { bob: null } })
  box.on('letter', (tx: Transaction, from: string, body: MailValue, letter) => {
    tx.set(`last ${from}`, body)
    tx.post(from, { heard: letter.n })
  })
  const n: number = await box.to('bob').post({ n: 1 })
  const waiting: WaitingLetter[] = box.peer('bob').outbox({ most: 9 })
  const adopted: Adopted = await box.peer('bob').adopt()
  await box.peer('bob').trust(box.peer('bob').key ?? (await box.replaceKey()))
  const done: number = await box.transact((tx) => tx.keys('last').length)
  console.log(n, waiting.length, adopted, done, letters, overSession(session))
  offerMail(session, box)()
  const range: Range | null = null
  console.log(range)
  await box.close()
  // @ts-expect-error Who it is, is said.
  await openMailbox({ store: 'ada.db' })
  // @ts-expect-error The password of all that there was until 0.2.
  await openMailbox({ id: 'ada', store: null, key: 'k'.repeat(16) })
  // @ts-expect-error Who may come is named with its key, or null.
  await openMailbox({ id: 'ada', store: null, accept: ['bob'] })
  // @ts-expect-error A misspelt option.
  await openMailbox({ id: 'ada', stores: 'ada.db' })
  // @ts-expect-error A letter is posted with its body.
  await box.to('bob').post()
  // @ts-expect-error A peer is named by a text.
  box.to(7)
  // @ts-expect-error There is no such event.
  box.on('nonsense', () => {})
}

const Gift = letter('gift', { hat: text(8), count: u8 })

export async function usesTypes(box: Mailbox): Promise<void> {
  await openMailbox({ id: 'ada', store: null, types: [Gift] })
  box.on(Gift, (tx, from, { hat, count }, { n }) => {
    const numbers: number = count + n
    tx.post(from, Gift, { hat: hat.trim(), count: numbers }, { ttl: 9 })
    // @ts-expect-error It has no such field.
    tx.post(from, Gift, { hat, count, hut: 1 })
  })
  await box.to('bob').post(Gift, { hat: 'top', count: 1 }, { key: 'one' })
  // @ts-expect-error A field is missing.
  await box.to('bob').post(Gift, { hat: 'top' })
  // @ts-expect-error A count is a number.
  await box.to('bob').post(Gift, { hat: 'top', count: 'one' })
  // @ts-expect-error What comes in is not changed.
  box.on(Gift, (_tx, _from, gift) => (gift.count = 2))
  box.handleAsync(Gift, async ({ id, from, body: { hat, count }, signal }) => {
    const said: [string, string, string, number, boolean] = [id, from, hat, count, signal.aborted]
    await Promise.resolve(said)
  })
  box.handleAsync('letter', ({ body }) => body, { timeoutMs: 9 })
  // @ts-expect-error There is no transaction for what happens elsewhere.
  box.handleAsync(Gift, (tx: Transaction) => tx.set('a', 1))
  // @ts-expect-error A letter has no such field.
  box.handleAsync(Gift, ({ body }) => body.hut)
  // @ts-expect-error No event of a mailbox is a function.
  box.on(letter, () => {})
}

export async function usesLetters(box: Mailbox): Promise<void> {
  interface Order {
    readonly hats: readonly number[]
    readonly tag: string | null
  }
  const order: Order = { hats: [1, 2], tag: null }
  await box.to('bob').post(order)
  await box.to('bob').post(new Uint8Array(3))
  await using mine = await openMailbox({ id: 'eve', store: null })
  using stop = mine.on('acked', ({ waiting }) => console.log(waiting))
  stop()
  // @ts-expect-error A letter carries no function.
  await box.to('bob').post(() => {})
  // @ts-expect-error Nor does it within.
  await box.to('bob').post({ run: [() => {}] })
  // @ts-expect-error Nor a promise.
  await box.transact((tx) => tx.post('bob', Promise.resolve(1)))
  // @ts-expect-error A key holds no big number.
  await box.transact((tx) => tx.set('hats', 3n))
}

export async function usesSim(): Promise<void> {
  const w = world({ seed: 7, conditions: 'loss=10%' })
  const session = await w.join({ game: 'duel' }, { kind: 'browser' })
  w.kill(session)
  await w.run(5_000)
  const counter: Model<{ n: number }> = {
    name: 'counter',
    init: () => ({ n: 0 }),
    actions: ({ n }) => (n > 3 ? [] : [{ label: 'more', next: (state) => void state.n++ }]),
    always: { few: ({ n }) => n < 5 || `${n} are many` },
  }
  console.log(render(check(counter, { statesMax: 9 })), createWorld({ seed: 1 }))
  const members = ['a', 'b']
  console.log(enact({ members, firstForm: false, deeds: [], arrival: ({ sentAt }) => sentAt }).ends)
  // @ts-expect-error A world is drawn from a seed.
  world({})
  // @ts-expect-error A model begins somewhere.
  check({ name: 'x', actions: () => [], always: {} }, {})
  // @ts-expect-error A claim holds, or says why not.
  const wrong: Model<number>['always'] = { small: (n) => n < 3 }
  console.log(wrong)
}

const ring = definePart({
  channel: 64,
  text: (options: { most: number }) => `${options.most}`,
  create: () => ({ rings: 0 }),
  perform: (_state, operation, by, { most }) => {
    if (operation.length > most) refuse(`player ${by.player} rings too often`)
    return { changes: [operation] }
  },
  apply: (state, change) => void (state.rings += decode(u8, change) ?? 0),
  snapshot: ({ rings }) => encode(u8, rings),
  restore: (bytes) => (bytes.length === 1 ? { rings: bytes[0]! } : null),
  face: (host: PartHost<{ rings: number }>) => ({
    rings: () => host.state.rings,
    ring: () => host.ask(encode(u8, 1)),
  }),
  receive: (face, from, message) => console.log(face.rings(), from.name, message.length),
})
const Bell: PartType<'bell', { rings(): number }> = ring('bell', { most: 3 })
const quiet = definePart({ channel: 65, text: () => '', create: () => ({}), face: () => 'quiet' })
const Quiet = quiet('quiet')

export async function usesParts(session: Session): Promise<void> {
  const rings: number = session.part(Bell).rings()
  const word: string = session.part(Quiet)
  const rung: OperationOutcome = await session.part(ring('bell', { most: 1 })).ring()
  if (!rung.ok && rung.code === 'lost') console.log(rung.reason, rings, word)
  // @ts-expect-error Its options are not given.
  ring('bell')
  // @ts-expect-error An option that is none.
  ring('bell', { least: 3 })
  // @ts-expect-error It has no options.
  quiet('quiet', { most: 3 })
  // @ts-expect-error A part has a face.
  definePart({ channel: 64, text: () => '', create: () => ({}) })
  // @ts-expect-error The face has no such verb.
  console.log(session.part(Bell).toll)
  // @ts-expect-error A part is no type of objects.
  session.create(Bell)
  // @ts-expect-error A text is no u8.
  encode(u8, 'one')
}

const Notes = yDoc('notes', { bytes: 10_000 })

export function usesDocuments(session: Session): void {
  const notes: SharedDocument = session.part(Notes)
  // What editors take.
  const doc: Y.Doc = notes.doc
  const awareness: Awareness = notes.awareness
  awareness.on('change', ({ added }: { added: number[] }) => console.log(added, doc.guid))
  notes.on('status', (status) => status === 'refused' && console.log(notes.error?.code))
  // @ts-expect-error A misspelt option.
  yDoc('notes', { byte: 10_000 })
  // @ts-expect-error A text is no document.
  notes.bind(doc.getText('page'))
}
