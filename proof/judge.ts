/**
 * What must be true of a session after trouble and peace, whatever the trouble was.
 *
 * A session goes on, whoever died, as long as one of its members lives: all that was acknowledged
 * to one that lives is there exactly once, and all agree. One that lost both its primary and its
 * backup, or a primary that had no backup yet, is recovered by those who are left.
 */

import type { Register } from '../packages/holdfast/src/hub-protocol/messages.ts'
import { underWay, wrongCalls } from './workloads/calls.ts'
import { bareFaces, cardsOf, unsettledCards, wrongTurns } from './workloads/pieces.ts'
import { woundClocks, wrongClocks } from './workloads/timers.ts'
import type { Trial } from './trace.ts'
import { Dot, isIn, type Client, serving } from './clients.ts'
import type { InternalSession as Session } from '../packages/holdfast/src/join/session-impl.ts'
import { wrongGhosts } from './workloads/requests.ts'
import type { PeerId } from '../packages/holdfast/src/machine.ts'
import { thingsOf, unsettled } from './workloads/objects.ts'

type Inside = Client & { session: Session }

/** The clients of one session, and its register. */
interface Group {
  id: string
  register: Register | null
  clients: Inside[]
  /** Neither its primary nor its backup lives. */
  lost: boolean
}

function groups(trial: Trial): Group[] {
  const rows = trial.world.hubs().map(({ hub }) => hub.registers.rows)
  const inside = trial.clients.filter((client) => isIn(client))
  const ids = new Set(inside.map((client) => client.session.member!.session.id))
  return [...ids].map((id) => {
    const clients = inside.filter((client) => client.session.member!.session.id === id)
    const register = rows.find((own) => own.has(id))?.get(id)?.entry.register ?? null
    const heirs = register ? [register.primary, register.backup] : []
    const lost = !clients.some((client) => heirs.includes(client.session.member!.session.me))
    return { id, register, clients, lost }
  })
}

/** Whether everything is as it shall stay. */
export function settled(trial: Trial): boolean {
  return groups(trial).every((group) => faults(group).next().done === true)
}

/** Whether a session that can be served is not. */
export function unserved(trial: Trial): boolean {
  const recovers = (client: Inside): boolean => {
    return ['recovering', 'gathering'].includes(client.session.member!.session.server.role)
  }
  return groups(trial).some((group) => {
    if (group.lost || group.clients.some((client) => recovers(client))) return false
    return !group.clients.some((client) => serving(client))
  })
}

/** What each member shows at the end, session by session. */
export function endings(trial: Trial): unknown[] {
  return groups(trial).map(({ register, clients }) => [
    [register?.epoch, register?.primary, register?.backup],
    clients.map(({ name, session }) => [
      [name, session.status, session.me.inc, session.me.player, session.debug.figures().epoch],
      [dotsOf(session), thingsOf(session), tableOf(session), cardsOf(session)],
    ]),
  ])
}

/** Looks into the accounts, and writes down what is wrong. */
export function judge(trial: Trial): void {
  const { observed } = trial
  for (const group of groups(trial)) {
    for (const fault of faults(group)) observed.wrong.add(`${group.id}: ${fault}`)
    if (group.lost) continue
    for (const fault of books(group)) observed.wrong.add(`${group.id}: ${fault}`)
    const recovered = group.clients.some((client) => client.recovered.has(group.id))
    const hands = trial.clients.map(({ hand }) => hand)
    for (const fault of wrongTurns(group.clients[0]!.session, hands, recovered)) {
      observed.wrong.add(`${group.id}: ${fault}`)
    }
  }
  for (const fault of wrongCalls(trial.clients.map(({ book }) => book))) observed.wrong.add(fault)
}

// Lazy: while peace settles the first fault is enough, and the costly looks come last.
function* faults(group: Group): Generator<string> {
  if (group.lost) {
    for (const { name } of group.clients) yield `${name} waits: primary and backup are dead`
    return
  }
  const primary = group.clients.find((client) => serving(client))
  if (!primary) {
    yield `role.live: nobody serves, register ${JSON.stringify(group.register)}`
    return
  }
  const sound: Inside[] = []
  for (const client of group.clients) {
    const found = [...standing(group, primary, client)]
    yield* found
    if (found.length === 0) sound.push(client)
  }
  if (sound.length === 0) return
  const right = standardOf(group, primary)
  for (const client of sound) yield* showing(right, primary, client)
}

/** What every member is to show: each dot where its owner moved it, all else as the primary. */
interface Standard {
  dots: unknown
  objects: unknown
  table: unknown
  cards: unknown
}

// Nothing happens while they are compared.
function standardOf(group: Group, { session }: Inside): Standard {
  return {
    dots: movesOf(group),
    objects: thingsOf(session),
    table: tableOf(session),
    cards: cardsOf(session),
  }
}

/** What one has, and what it should have. */
type Row = [what: string, mine: unknown, right: unknown]

function* differing(primary: Inside, client: Inside, rows: Iterable<Row>): Generator<string> {
  for (const [what, mine, right] of rows) {
    if (mine === right) continue
    const [one, other] = [JSON.stringify(mine), JSON.stringify(right)]
    if (one !== other) yield `${client.name} has ${what} ${one}, ${primary.name} ${other}`
  }
}

// Who is in, who serves, and that nothing is under way.
function* standing(group: Group, primary: Inside, client: Inside): Generator<string> {
  const { session } = client
  const incs = (of: Session): PeerId[] => of.members.map(({ inc }) => inc).sort((a, b) => a - b)
  const rows: Row[] = [
    ['status', session.status, 'live'],
    ['operations under way', session.member!.session.client.pending.length, 0],
    ['calls under way', underWay(client.book), 0],
    ['requests', client.requests.waiting.size, 0],
    ['clocks to ring', woundClocks(primary.session), 0],
    ['members', incs(session), incs(primary.session)],
    ['members', incs(session).length, group.clients.length],
    ['primary', session.primary?.inc, primary.session.me.inc],
    ['epoch', session.debug.figures().epoch, group.register?.epoch],
    ['register', primary.session.me.inc, group.register?.primary],
  ]
  // Whom only the dead knew, or who was away, is nobody's memory after a recovery: it is told so.
  const recovered = group.clients.some((other) => other.recovered.has(client.home))
  if (!client.anew || !recovered) rows.push(['player', session.me.player, client.player])
  if (client.former?.home === client.home && !recovered) {
    rows.push(['player of the client before', client.player, client.former.player])
  }
  if (session.member!.session.topology === 'mesh') {
    const others = incs(primary.session).filter((inc) => inc !== session.me.inc)
    rows.push(['links', linkedOf(session), others])
  }
  yield* differing(primary, client, rows)
}

// What is shown to who plays.
function* showing(right: Standard, primary: Inside, client: Inside): Generator<string> {
  const { session } = client
  yield* unsettled(client)
  yield* differing(primary, client, [['dots', dotsOf(session), right.dots]])
  yield* differing(primary, client, [['objects', thingsOf(session), right.objects]])
  yield* differing(primary, client, [['table', tableOf(session), right.table]])
  yield* wrongGhosts(session, primary.session)
  yield* differing(primary, client, [['cards', cardsOf(session), right.cards]])
  yield* cardFaults(client, primary.session)
}

// What each says of its own dot.
function movesOf({ clients }: Group): (readonly [number, number])[] {
  const dots = clients.map(({ session, dot }) => {
    return [session.me.player, dot?.state.moves ?? -1] as const
  })
  return dots.sort(([one], [other]) => one - other)
}

function cardFaults({ name, session, hand }: Inside, leads: Session): string[] {
  const players = leads.members.map(({ player }) => player)
  const all = [...unsettledCards(session, hand, players), ...bareFaces(session)]
  return all.map((fault) => `${name}: ${fault}`)
}

function linkedOf(session: Session): PeerId[] {
  const open = [...session.member!.peers.values()].filter(({ link }) => link !== null)
  return open.map(({ inc }) => inc).sort((a, b) => a - b)
}

function tableOf(session: Session): [string, unknown][] {
  return session.table.keys().map((key) => [key, session.table.get(key)])
}

function dotsOf(session: Session): (readonly [number, number])[] {
  const here = session.all(Dot).filter((dot) => !dot.away)
  const dots = here.map((dot) => [dot.owner?.player ?? 0, dot.state.moves] as const)
  return dots.sort(([one], [other]) => one - other)
}

// commit.kept, once and commit.hidden, as far as anybody outside can tell.
function books(group: Group): string[] {
  const [first] = group.clients
  if (!first) return []
  const found: string[] = []
  const table = new Map(tableOf(first.session))
  found.push(...wrongClocks(first.session))
  const rows = new Map<string, number>()
  for (const [key, value] of table) {
    if (!key.startsWith('done ')) continue
    const who = key.split(' ')[1]!
    rows.set(who, (rows.get(who) ?? 0) + 1)
    if (value !== 1) found.push(`once: ${key} was done ${String(value)} times`)
  }
  for (const [who, sum] of rows) {
    const counted = table.get(`count ${who}`)
    if (counted !== sum) found.push(`once: ${who} counts ${String(counted)} of ${sum} done`)
  }
  for (const client of group.clients) {
    // Who was not there when the others recovered the session is told what that lost of its own.
    const missing = [...client.answered.keys()].filter((seq) => {
      return table.get(`done ${client.name} ${seq}`) !== 1
    })
    if (missing.length > client.named) {
      found.push(
        `commit.kept: ${client.name} was answered ${missing.join(' ')}: not done, not named`,
      )
    }
    if (client.named > 0) continue
    for (const seq of client.unseen) {
      found.push(`answer.shown: ${client.name} was answered ${seq} before it saw what that did`)
    }
    for (const [key, value] of client.shown) {
      if (Number(table.get(key) ?? -1) >= value) continue
      found.push(`commit.hidden: ${client.name} was shown ${key} = ${value}, which is not so`)
    }
  }
  return found
}
