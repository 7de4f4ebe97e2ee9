/**
 * Captures what the shipped members and the shipped hub send and write during a short session in
 * virtual time, with all that can happen to one: newcomers, objects that change hands, actions, a
 * takeover, an outage of the hub, a member that was cut off and comes back, goodbyes, strangers.
 */

import type { GiveOutcome, TakeOutcome } from '../../packages/holdfast/src/kind/outcomes.ts'
import { readPlace } from '../../packages/hub/src/machine/places.ts'
import { SEED_RECORD } from '../../packages/hub/src/server/hub-key.ts'
import { HubServer } from '../../packages/hub/src/server/hub-server.ts'
import { joinIn, type JoinOptions } from '../../packages/holdfast/src/join/join.ts'
import type { Session } from '../../packages/holdfast/src/join/session.ts'
import type { InternalSession } from '../../packages/holdfast/src/join/session-impl.ts'
import { type SlotsHandle, slots } from '../../packages/holdfast/src/slots/slots.ts'
import { near } from '../../packages/holdfast/src/objects/types.ts'
import { procedure } from '../../packages/holdfast/src/calls/calls.ts'
import { action } from '../../packages/holdfast/src/actions/actions.ts'
import type { Definition } from '../../packages/holdfast/src/kind/kind.ts'
import { object } from '../../packages/holdfast/src/objects/objects.ts'
import type { Datagrams, Environment, Stream } from '../../packages/holdfast/src/ports.ts'
import { environmentOf, HUB_URL, toyTickets } from '../../packages/sim/src/session-world.ts'
import type { Topology } from '../../packages/holdfast/src/hub-protocol/messages.ts'
import {
  claimOf,
  joinLayout,
  SESSION_VERSION,
} from '../../packages/holdfast/src/session/messages.ts'
import { Caller } from '../member/caller.ts'
import { openCiphers } from '../open-ciphers.ts'
import { toyCurves } from '../../packages/sim/src/toy-ciphers.ts'
import { createWorld, type SimNode, type World } from '../../packages/sim/src/world.ts'
import { encode } from '../../packages/holdfast/src/wire/layout.ts'
import { text, u8, vec2 } from '../../packages/holdfast/src/wire/fields/schema.ts'
import type { TypeText } from './document.ts'
import type { Sent } from './ledger.ts'

/** The types of the game. */
export const Dot = object('dot', { pos: vec2(0, 100, 0.1), hue: u8 })
export const Pot = object(
  'pot',
  { pos: vec2(-64, 64, 0.01), vel: vec2(-20, 20, 0.05) },
  { motion: { follow: { pos: 'vel' } } },
)
const Rock = object('rock', { n: u8 }, { take: 'free', onOwnerLeave: 'keep' })
const Card = object('card', { face: text(9) }, { take: 'ask', onOwnerLeave: 'keep' })
const Eye = object('eye', { at: vec2(0, 100, 1) }, { eyes: 'at' })
const Mote = object('mote', { at: vec2(0, 100, 1) }, { visibleTo: near('at', 10) })
/** The schema text of Dot. */
export const SCHEMA = '{ pos: vec2 0 100 0.1, hue: u8 }'
/** All types as a reader is told them, in the order of their names. */
export const TYPES: readonly TypeText[] = [
  { schema: '{ face: text 9 }', moves: false },
  { schema: SCHEMA, moves: false },
  { schema: '{ at: vec2 0 100 1 }', moves: false },
  { schema: '{ at: vec2 0 100 1 }', moves: false },
  { schema: '{ pos: vec2 -64 64 0.01, vel: vec2 -20 20 0.05 }', moves: true },
  { schema: '{ n: u8 }', moves: false },
]

const Count = slots('count', {
  ms: 100,
  start: 0,
  rule: (count: number, acts: readonly unknown[]): number => count + acts.length,
  act: { by: u8 },
})
export const bump = action('bump', (table, args: { key: string; times: number }) => {
  if (args.times > 20) throw new Error('too many at once')
  for (let n = 0; n < args.times; n++) table.set(`${args.key}/${n}`, 'x'.repeat(900))
  return args.times
})
const roll = procedure('roll', ({ sides }: { sides: number }) => sides - 1)
const TYPES_OF_DOTS = [Dot, Pot, Rock, Card, Eye, Mote, bump, roll, Count]
/** What the code must know of the types. */
export const RULES = [Card, Dot, Eye, Mote, Pot, Rock].map(({ rules }) => rules)
const WIRE = 'rtt=16,jitter=3,loss=2%'
const WAIT_MS = 60_000
/** More than any of them has, but for one. */
const PER_PLAYER = 7
const SESSION_HASH = new Uint8Array(16)

/** A session in virtual time, and all that is sent in it. */
export interface Stage {
  sim: World
  sent: Sent[]
  join: (name: string, kind?: 'node' | 'browser', more?: Partial<JoinOptions>) => Promise<Session>
  until: (what: string, holds: () => boolean) => Promise<void>
  /** Lets time pass until the promise is settled. */
  settled: <Result>(promise: Promise<Result>) => Promise<Result>
}

/** Plays it. @returns all that was sent and written, in order */
export async function captureSession(): Promise<Sent[]> {
  const stage = open('star')
  const { sim } = stage
  const ada = await stage.join('ada')
  const bea = await stage.join('bea')
  const cy = await stage.join('cy', 'browser')
  await stage.until('all are backed up', () => ada.safety === 'backed-up' && cy.primary !== null)
  await stage.until('all see all', () => [ada, bea, cy].every((one) => one.members.length === 3))
  await play(stage, [ada, bea, cy])
  await step(stage, [ada, bea, cy])
  await takeAndGive(stage, [ada, bea, cy])
  await lookAround(stage, [ada, bea, cy])
  await mishear(stage, [ada, bea])
  sim.crash('ada')
  await stage.until('bea took over', () => bea.primary === bea.me && bea.safety === 'backed-up')
  await stage.settled(cy.act(bump, { key: 'cy', times: 2 }))
  await overfill(stage, bea)
  const dee = await stage.join('dee')
  await outage(stage, bea)
  await cutOff(stage, dee, bea)
  await visit(stage, bea)
  await sim.run(65_000)
  const gil = await stage.join('gil')
  const all = [bea, cy, dee, gil]
  await handOver(stage, bea, all)
  const left = await disaster(stage, all)
  // A page that is closed has no time to leave.
  const [closed] = left as InternalSession[]
  closed!.end('closed')
  for (const session of left) if (session !== closed) void session.leave()
  await sim.run(4_000)
  return stage.sent
}

/** The same for a mesh: what four say to one another while one dies. */
export async function captureMesh(): Promise<Sent[]> {
  const stage = open('mesh')
  const { sim, until } = stage
  const all: Session[] = []
  for (const name of ['ada', 'bea', 'cy', 'dee']) all.push(await stage.join(name))
  const [ada, , cy, dee] = all as [Session, Session, Session, Session]
  await until('all are backed up', () => all.every(({ safety }) => safety === 'backed-up'))
  for (const [at, one] of all.entries()) one.create(Dot, { pos: [at, 0] })
  const rock = ada.create(Rock, { n: 1 })
  await until('all see all', () => all.every((one) => one.all(Dot).length === 4))
  for (let step = 1; step <= 10; step++) {
    for (const one of all)
      one
        .all(Dot)
        .find(({ mine }) => mine)!
        .set({ pos: [step, step] })
    await sim.run(50)
  }
  await until('the rock is everywhere', () => all.every((one) => one.all(Rock).length === 1))
  expectIs(await stage.settled(cy.all(Rock)[0]!.take()), 'granted')
  await until('dee knows', () => !rock.mine && dee.all(Rock)[0]!.owner?.inc === cy.me.inc)
  await overfill(stage, ada)
  sim.crash('ada')
  const rest = all.slice(1)
  await until('they go on', () => rest.every((one) => one.safety === 'backed-up'))
  await until('it is kept', () => rest.every((one) => one.all(Dot).some(({ away }) => away)))
  for (const one of rest) void one.leave()
  await sim.run(2_000)
  return stage.sent
}

async function handOver({ until }: Stage, from: Session, all: Session[]): Promise<void> {
  await until('bea has a backup', () => from.debug.figures().role === 'backedup')
  from.handOver()
  await until('all follow', () => all.every((one) => one.primary && one.primary !== from.me))
  const safe = (): boolean => all.every((one) => one.safety === 'backed-up')
  await until(
    'all see it',
    () => safe() && all.every(({ primary }) => primary!.inc !== from.me.inc),
  )
}

/** A page that is loaded anew does not know what it made, and makes more than it may. */
async function overfill({ sim, join, until }: Stage, server: Session): Promise<void> {
  const before = await join('hal', 'browser')
  for (let n = 0; n < PER_PLAYER; n++) before.create(Rock, { n })
  const { inc } = before.me
  const isHere = (one: number): boolean => server.members.some((member) => member.inc === one)
  await until('its rocks are known', () => server.all(Rock).length >= PER_PLAYER)
  sim.crash('hal')
  await until('it is missed', () => !isHere(inc))
  const after = await join('ian', 'browser', { token: before.token })
  let full = false
  after.create(Rock).on('gone', ({ reason }) => (full = reason === 'full'))
  await until('it is told that it has enough', () => full)
  for (const rock of after.all(Rock)) if (rock.mine) rock.destroy()
  void after.leave()
  await until('it has left', () => !isHere(after.me.inc))
}

/** Server and backup die at once, and of the others one has not seen all. */
async function disaster({ sim, until, settled }: Stage, all: Session[]): Promise<Session[]> {
  const heads = all.filter((one) => ['backedup', 'backup'].includes(one.debug.figures().role))
  const left = all.filter((one) => !heads.includes(one))
  const [deaf, well] = left as [Session, Session]
  const [deafName, ...names] = [deaf, well, ...heads].map((one) => one.me.name)
  const mend = sim.partition([[deafName!], [...names, 'hub']])
  await settled(well.act(bump, { key: 'seen', times: 3 }))
  for (const { me } of heads) sim.crash(me.name, { silent: true })
  mend()
  let told = 0
  for (const one of left) one.on('recovered', () => told++)
  await until('both go on', () => told === 2)
  await until('both have it', () => left.every((one) => one.table.get('seen/0') !== undefined))
  return left
}

/** A place whose ciphers hide nothing. */
export function readable(environment: Environment): Environment {
  return { ...environment, crypto: () => ({ ciphers: openCiphers, curves: toyCurves }) }
}

// A hub, of which all that it writes is captured.
function serve(sim: World, sent: Sent[], closed: readonly string[] | undefined): void {
  sim.node('hub', (node) => {
    const store = {
      ...node.store,
      cas: (...[change, done]: Parameters<SimNode['store']['cas']>) => {
        const { key, value, blobs } = change
        const own = key === SEED_RECORD ? [] : [[key, value] as const]
        for (const [name, bytes] of [...own, ...blobs]) {
          if (bytes) sent.push({ way: 'disk', node: node.name, key: name, bytes: bytes.slice() })
        }
        node.store.cas(change, done)
      },
    }
    const tickets = closed ? toyTickets(closed) : null
    const hub = new HubServer(node.loop, store, {
      curves: toyCurves,
      tickets,
      wall: () => sim.now(),
    })
    node.listen(HUB_URL, (stream, opening) => hub.accept(stream, opening))
  })
}

/** Opens it: a hub, and members as they join. @param closed  games that take tickets */
export function open(
  topology: Topology,
  types: readonly Definition[] = TYPES_OF_DOTS,
  closed?: readonly string[],
): Stage {
  const sim = createWorld({ seed: 28, conditions: WIRE, linesMax: 0 })
  const sent: Sent[] = []
  serve(sim, sent, closed)
  const until = async (what: string, holds: () => boolean): Promise<void> => {
    if (!(await sim.runUntil(holds, WAIT_MS))) throw new Error(`it never came to pass: ${what}`)
  }
  const settled = async <Result>(promise: Promise<Result>): Promise<Result> => {
    let done = false
    const watched = promise.finally(() => (done = true))
    watched.catch(() => {})
    await until('a promise is settled', () => done)
    return watched
  }
  const join: Stage['join'] = (name, kind = 'node', more = {}) => {
    const environment = readable(environmentOf(tapped(sim.node(name), sent), kind))
    // Rooms without objects have no bound for them.
    const founding =
      types === TYPES_OF_DOTS ? { topology, objectsPerPlayer: PER_PLAYER } : { topology }
    // Kept rooms have a capture of their own.
    const game = { game: 'dots', name, types, server: HUB_URL, keepRoom: false } as const
    const options = { ...game, ...founding, ...more }
    return settled(joinIn(environment, options))
  }
  return { sim, sent, join, until, settled }
}

async function play({ sim, until, settled }: Stage, sessions: Session[]): Promise<void> {
  const [ada, bea, cy] = sessions as [Session, Session, Session]
  const dots = sessions.map((one, at) => one.create(Dot, { pos: [10 * at, 5], hue: at }))
  const pots = sessions.map((one, at) => one.create(Pot, { pos: [at, 0], vel: [2, 0] }))
  await until('all see all dots', () => sessions.every((one) => one.all(Dot).length === 3))
  for (let step = 1; step <= 20; step++) {
    for (const [at, dot] of dots.entries()) dot.set({ pos: [10 * at + step, step / 2] })
    for (const [at, pot] of pots.entries()) pot.set({ pos: [at + step / 10, 0] })
    await sim.run(50)
  }
  const done = [bea.act(bump, { key: 'bea', times: 9 }), cy.act(bump, { key: 'cy', times: 30 })]
  await settled(Promise.all(done))
  // By way of the server, from one that has no other link to whom it calls.
  const rolled = await settled(cy.call(bea.me, roll, { sides: 6 }))
  if (!rolled.ok || rolled.value !== 5) throw new Error('a die of five')
  cy.note('all', roll, { sides: 2 })
  await sim.run(2_500)
  // It neither serves nor stands by, and there are secrets.
  await settled(cy.export().catch(() => null))
  cy.create(Dot, { hue: 9 }).destroy()
  dots[1]!.destroy()
  pots[1]!.destroy()
  await until('a dot is gone', () => ada.all(Dot).length === 2)
}

/** A world of slots, which one opens later than the others. */
async function step({ sim, until }: Stage, sessions: Session[]): Promise<void> {
  const open = (one: Session): SlotsHandle<number, { by: number }> => one.part(Count)
  const worlds = sessions.slice(0, 2).map(open)
  await until('two have a world', () => worlds.every(({ status }) => status === 'live'))
  for (let n = 0; n < 10; n++) {
    for (const world of worlds) world.act({ by: n })
    await sim.run(70)
  }
  worlds.push(open(sessions[2]!))
  await until('all have it', () => worlds.every(({ state }) => state === 20))
}

/** Objects change hands: taken, asked for and refused, asked for and granted, just gone. */
async function takeAndGive({ sim, until, settled }: Stage, sessions: Session[]): Promise<void> {
  const [ada, bea, cy] = sessions as [Session, Session, Session]
  cy.create(Rock, { n: 1 })
  const pebble = ada.create(Rock, { n: 2 })
  bea.create(Card, { face: 'queen' })
  const known = (): boolean => bea.all(Rock).length === 2 && cy.all(Card).length === 1
  await until('rocks and card are known', known)
  expectIs(
    await settled(
      bea
        .all(Rock)
        .find(({ state }) => state.n === 1)!
        .take(),
    ),
    'granted',
  )
  let yes = false
  bea.on('asked', (asking) => (yes ? asking.grant() : asking.refuse()))
  expectIs(await settled(cy.all(Card)[0]!.take()), 'denied')
  yes = true
  expectIs(await settled(cy.all(Card)[0]!.take()), 'granted')
  expectIs(await settled(cy.all(Card)[0]!.give(ada.me)), 'granted')
  const late = bea.all(Rock).find(({ state }) => state.n === 2)!
  pebble.destroy()
  await sim.run(2)
  expectIs(await settled(late.take()), 'gone')
}

function expectIs(outcome: TakeOutcome | GiveOutcome, wanted: string): void {
  const answer = outcome.ok ? 'granted' : outcome.code
  if (answer !== wanted) throw new Error(`it was ${answer} where ${wanted} was expected`)
}

/** What one sees depends on where it is. */
async function lookAround({ until }: Stage, sessions: Session[]): Promise<void> {
  const [ada, bea, cy] = sessions as [Session, Session, Session]
  const eye = bea.create(Eye, { at: [5, 5] })
  ada.create(Mote, { at: [6, 6] })
  ada.create(Mote, { at: [90, 90] })
  const sees = (place: number): boolean => {
    return bea.all(Mote).length === 1 && bea.all(Mote)[0]!.state.at[0] === place
  }
  await until('bea sees the near one', () => sees(6))
  eye.set({ at: [90, 91] })
  await until('bea sees the other', () => sees(90))
  // What bea, who is to serve, does not know.
  ada.create(Mote, { at: [1, 1] })
  await until('cy sees all', () => cy.all(Mote).length === 3)
}

/** The backup cannot hear the primary, and wants to take over: that one lives. */
async function mishear({ sim, sent, until }: Stage, [ada, bea]: [Session, Session]): Promise<void> {
  const { epoch } = ada.debug.figures()
  await until('bea stands by', () => bea.debug.figures().role === 'backup')
  // A near relay would carry on before anybody is suspected.
  const relay = (wire: string): void => {
    for (const name of ['ada', 'bea']) {
      sim.conditions(name, 'hub', wire)
      sim.conditions('hub', name, wire)
    }
  }
  relay('rtt=200')
  await sim.run(6_000)
  const mend = sim.deafen('ada', 'bea')
  const from = sent.length
  const isVetoed = (): boolean => {
    return sent.slice(from).some(({ way, node, bytes }) => {
      return way === 'down' && node === 'bea' && bytes[0] === 0 && bytes[1] === 14
    })
  }
  await until('bea is told that ada lives', isVetoed)
  await sim.run(3_000)
  if (ada.debug.figures().epoch !== epoch) throw new Error('somebody took over')
  mend()
  relay(WIRE)
}

async function outage({ sim, until }: Stage, bea: Session): Promise<void> {
  sim.crash('hub')
  await sim.run(12_000)
  sim.restart('hub')
  await sim.run(3_000)
  await until('it goes on', () => bea.safety === 'backed-up' && bea.members.length === 3)
}

async function cutOff({ sim, until }: Stage, dee: Session, bea: Session): Promise<void> {
  const { player, inc } = dee.me
  const rock = dee.create(Rock, { n: 3 })
  await until('the rock is known', () => bea.all(Rock).some(({ state }) => state.n === 3))
  const mend = sim.partition([['dee'], ['bea', 'cy', 'hub']])
  await sim.run(12_000)
  mend()
  await until('dee is back', () => dee.status === 'live' && dee.me.inc !== inc)
  if (dee.me.player !== player) throw new Error('dee came back as somebody else')
  await until('it has its rock again', () => rock.mine && rock.owner?.inc === dee.me.inc)
}

/** Somebody looks around at the hub, is refused, and knocks at a member's door. */
async function visit({ sim, sent, join, until }: Stage, bea: Session): Promise<void> {
  const node = tapped(sim.node('eve'), sent)
  const session = sessionId(sent)
  const eve = new Caller(node, 'dots', toyCurves.signer(SESSION_HASH) as Uint8Array, openCiphers)
  await until('eve knows who serves', () => eve.knows)
  eve.say({ kind: 'list', request: 1, game: '', after: '' })
  eve.say({ kind: 'get', request: 2, session: 'nowhere' })
  // One of another version is denied, one with other types is told ours.
  for (const version of [9, SESSION_VERSION]) {
    eve.ask(wishOfStranger(session, version, eve))
    await sim.run(500)
  }
  eve.close()
  const fay = await join('fay')
  await until('fay is here', () => bea.members.length === 4)
  // Until its link is open it can say nothing.
  await sim.run(500)
  void fay.leave()
  await until('fay has left', () => bea.members.length === 3)
}

function wishOfStranger(session: string, version: number, eve: Caller): Uint8Array {
  const seed = SESSION_HASH
  const wish = {
    version,
    schema: 1,
    name: 'eve',
    kind: 'node',
    watches: false,
    link: eve.point,
    ...eve.admitted,
    registerHash: SESSION_HASH,
    key: toyCurves.signer(seed) as Uint8Array,
    resume: null,
  } as const
  const signature = toyCurves.sign(seed, claimOf(session, { ...wish, addresses: [] })) as Uint8Array
  return encode(joinLayout, { ...wish, addresses: [], signature })
}

// The first record on disk is that of its place.
function sessionId(sent: readonly Sent[]): string {
  const { bytes } = sent.find((one) => one.way === 'disk')!
  return readPlace(bytes)!.session.entry.session
}

/** The ports of a machine, with an ear at each. */
function tapped(node: SimNode, sent: Sent[]): SimNode {
  const { name } = node
  return {
    ...node,
    openDatagrams: async (events) => tappedSocket(await node.openDatagrams(events), name, sent),
    connect: (url, events) => {
      const stream = node.connect(url, {
        ...events,
        opened: () => events.opened(),
        closed: (why) => events.closed(why),
        message: (bytes) => {
          sent.push({ way: 'down', node: name, bytes: bytes.slice() })
          events.message(bytes)
        },
      })
      return tappedStream(stream, name, sent)
    },
  }
}

function tappedSocket(socket: Datagrams, node: string, sent: Sent[]): Datagrams {
  return {
    addresses: socket.addresses,
    reaches: (address) => socket.reaches(address),
    send: (to, bytes) => {
      sent.push({ way: 'datagram', node, bytes: bytes.slice() })
      socket.send(to, bytes)
    },
    close: () => socket.close(),
  }
}

function tappedStream(stream: Stream, node: string, sent: Sent[]): Stream {
  return {
    send: (bytes) => {
      const taken = stream.send(bytes)
      if (taken) sent.push({ way: 'up', node, bytes: bytes.slice() })
      return taken
    },
    backlog: () => stream.backlog(),
    close: () => stream.close(),
  }
}
