/**
 * A session in virtual time with three good members, a fourth that lies, and a stranger; and the
 * claims that must hold of the good ones whatever the others do.
 */

import * as actions from '../../packages/holdfast/src/actions/protocol/actions.ts'
import { MemberLoop } from '../../packages/holdfast/src/runtime/member-loop.ts'
import { runOf, action } from '../../packages/holdfast/src/actions/actions.ts'
import { sortDefinitions } from '../../packages/holdfast/src/kind/definitions.ts'
import {
  fork,
  type Prng,
  create as chaosOf,
  chance,
  next,
  pick,
} from '../../packages/holdfast/src/faults/prng.ts'
import * as link from '../../packages/holdfast/src/link/link.ts'
import type { Part } from '../../packages/holdfast/src/kind/protocol/part.ts'
import * as links from '../../packages/holdfast/src/member/links.ts'
import * as member from '../../packages/holdfast/src/member/member.ts'
import { pathOf } from '../../packages/holdfast/src/member/peers.ts'
import type { MemberEvent, Peer, Runtime } from '../../packages/holdfast/src/member/state.ts'
import * as objects from '../../packages/holdfast/src/objects/protocol/objects.ts'
import type { Datagrams } from '../../packages/holdfast/src/ports.ts'
import {
  environmentOf,
  HUB_URL,
  type SessionWorld,
  world,
} from '../../packages/sim/src/session-world.ts'
import * as seal from '../../packages/holdfast/src/seal/seal.ts'
import type { PeerMessage } from '../../packages/holdfast/src/session/messages.ts'
import { HELD_MAX } from '../../packages/holdfast/src/session/output.ts'
import * as pieces from '../../packages/holdfast/src/pieces/protocol/pieces.ts'
import { tableOf as companionOf } from '../../packages/holdfast/src/pieces/table.ts'
import { Card, cardBody, cardNews, cardsWronged } from './cards.ts'
import { datagram, type Knowledge, mutated, noise, peerBytes, remember } from './hostile.ts'
import { bounded as objectsBounded, furnish, keep, RULES, TYPES, wronged } from './household.ts'
import { objectFrame, objectMessage, type KnownObjects } from './objects.ts'

/** Adds one to the count of whoever calls, and answers with it. */
const count = action('count', (table, _args: null, by) => {
  while (table.all(Card).length < CARDS) table.create(Card, { face: 7 })
  const key = `player ${by.player}`
  const next = Number(table.get(key) ?? 0) + 1
  table.set(key, next)
  return next
})
const { text } = sortDefinitions([count, Card, ...TYPES])
const CALL = actions.encodeCall('count', null)
/** Cards on the table. */
const CARDS = 8
/** Operations that a good member has under way. */
const UNDER_WAY = 4
/** After this objects are told to all. */
const SETTLED_MS = 1_000
/** Messages of the liar to one peer that may wait; more would only close its link. */
const WAITING_MAX = 64

/** One member on a machine of the world. */
export class Fuzzed {
  readonly runner: MemberLoop
  readonly parts: {
    objects: objects.Objects
    actions: actions.Actions
    pieces: pieces.Pieces
  }
  /** Outcomes that came. */
  acked = 0
  /** Times that an outcome was not the next number. */
  wrong = 0
  /** Views that it was told. */
  views = 0
  /** Its objects. */
  readonly own: objects.Replica[] = []
  /** Keys of its objects for which somebody asks, and who. */
  readonly asked = new Map<number, { by: number; request: number }>()
  #asked = 0

  private constructor(runner: MemberLoop, parts: Fuzzed['parts']) {
    this.runner = runner
    this.parts = parts
  }

  /** Joins from a machine of its own. A `browser` is the last to be asked to be backup. */
  static async join(
    scene: SessionWorld,
    name: string,
    kind: 'node' | 'browser',
    sent: (bytes: Uint8Array) => void = () => {},
  ): Promise<Fuzzed> {
    const parts = { objects: objects.create(), actions: actions.create(), pieces: pieces.create() }
    const node = scene.sim.node(name)
    let self: Fuzzed | null = null
    const runner = await MemberLoop.start({
      environment: {
        ...environmentOf(node, kind),
        carriers: [async (events) => spied(await node.openDatagrams(events), sent)],
      },
      ice: null,
      urls: [HUB_URL],
      memberOptions: {
        game: 'fuzz',
        room: 'main',
        name,
        ...{ playersMax: 8, ticket: '', roomKey: null, saved: null },
        ...{ fresh: false, keptTypes: '', watches: false, hides: false },
        ...{ recovers: false, hosts: false, guest: false, topology: 'star', terms: '' },
        ...{ types: text, token: null },
      },
      parts: [
        { part: objects.objectsPart(RULES) as Part<never>, state: parts.objects },
        { part: actionsOver(parts.pieces), state: parts.actions },
        { part: pieces.piecesPart([Card.rules]) as Part<never>, state: parts.pieces },
      ],
      conditions: null,
      onEvent: (event) => {
        // What the boundary of a member caught is a fault that was found.
        if (event.kind === 'threw') throw event.error
        self?.told(event)
      },
      onSettled: () => {},
    })
    self = new Fuzzed(runner, parts)
    return self
  }

  /** Its session. */
  get session(): MemberLoop['member']['session'] {
    return this.runner.member.session
  }

  /** Its own number. */
  get inc(): number {
    return this.session.me
  }

  /** Keeps operations under way. */
  act(): void {
    while (this.#asked - this.acked < UNDER_WAY) {
      this.#asked++
      this.runner.do((now, run) => member.submit(run, now, actions.ACTIONS_CHANNEL, CALL))
    }
  }

  /** Whether all that was asked is answered. */
  idle(): boolean {
    return this.#asked === this.acked
  }

  private told(event: MemberEvent): void {
    if (event.kind === 'done') this.done(event.outcome)
    if (event.kind === 'view') this.views++
    if (event.kind === 'part') this.heard(event.event as objects.ObjectEvent)
  }

  private heard(event: objects.ObjectEvent): void {
    if (event.kind === 'object-asked') this.asked.set(event.key, event)
  }

  private done(outcome: Uint8Array): void {
    const answer = actions.decodeAnswer(outcome)
    this.acked++
    if (!answer?.ok || answer.value !== this.acked) this.wrong++
  }
}

function actionsOver(state: pieces.Pieces): Part<never> {
  const runs = new Map([[count.name, runOf(count, [count], () => {})]])
  return actions.actionsPart(runs, [companionOf(state, [Card], [Card.rules])]) as Part<never>
}

function spied(carrier: Datagrams, sent: (bytes: Uint8Array) => void): Datagrams {
  return {
    addresses: carrier.addresses,
    reaches: (address) => carrier.reaches(address),
    send: (to, bytes) => {
      sent(bytes)
      carrier.send(to, bytes)
    },
    close: () => carrier.close(),
  }
}

/** All of it. */
export interface Scene {
  world: SessionWorld
  chaos: Prng
  good: Fuzzed[]
  liar: Fuzzed
  stranger: Datagrams
  known: Knowledge
  knownObjects: KnownObjects
  /** Packets and messages that were sent to harm. */
  sent: number
  epoch: number
}

/** A session that is whole: primary, backup, an ordinary member and a liar, all linked. */
export async function scene(seed: number): Promise<Scene> {
  const made = world({ seed, linesMax: 0, conditions: 'rtt=4' })
  const chaos = fork(chaosOf(seed), 'fuzz')
  const known: Knowledge = { numbers: [0], session: '', samples: [] }
  const good: Fuzzed[] = []
  for (const name of ['a', 'b', 'c']) {
    good.push(await Fuzzed.join(made, name, 'node'))
    await made.sim.run(500)
  }
  let packets = 0
  const liar = await Fuzzed.join(made, 'liar', 'browser', (bytes) => {
    if (packets++ % 8 === 0) remember(chaos, known, bytes)
  })
  await made.sim.run(6_000)
  for (const one of good) furnish(one)
  await made.sim.run(SETTLED_MS)
  const stranger = await made.sim.node('stranger').openDatagrams({
    datagram: () => {},
    refused: () => {},
  })
  const { epoch } = good[0]!.session.client.view
  const knownObjects = objectsKnown({ liar, good })
  return { world: made, chaos, good, liar, stranger, known, knownObjects, sent: 0, epoch }
}

/** Sends so many hostile packets and messages, while the good members act. */
export function rage(scene: Scene, packets: number): void {
  const { good, world: made } = scene
  const until = scene.sent + packets
  while (scene.sent < until) {
    look(scene)
    for (const one of good) {
      one.act()
      keep(one)
    }
    for (let i = 0; i < 25 && scene.sent < until; i++) {
      if (chance(scene.chaos, 0.5)) shout(scene)
      else whisper(scene)
    }
    made.sim.runSync(10)
  }
}

/** The liar cheats at cards so many times, while the good members act. */
export function cheat({ world: made, chaos, good, liar }: Scene, times: number): void {
  for (let i = 0; i < times; i++) {
    for (const one of good) one.act()
    liar.runner.do((now, run) => {
      const state = liar.parts.pieces
      if (liar.session.client.pending.length < 32) {
        member.submit(run, now, pieces.PIECES_CHANNEL, cardBody(chaos, state))
      }
      const open = [...run.member.peers.values()].filter((peer) => peer.link !== null)
      if (open.length > 0) speak(run, pick(chaos, open), cardNews(chaos, state))
      member.touched(run, now)
    })
    made.sim.runSync(10)
  }
}

// What the liar sees of the others it uses.
function look(scene: Scene): void {
  const { good, liar, known, chaos } = scene
  scene.knownObjects = objectsKnown(scene)
  const { session } = liar
  const { view } = session.client
  known.session = session.id
  const near = [view.epoch - 1, view.epoch, view.epoch + 1, view.mv, view.mv + 1, session.me]
  known.numbers = [...near, ...good.map((one) => one.inc)].filter((number) => number >= 0)
  // It has links to primary and backup; a register of its own making gives it others.
  const primary = pick(chaos, good).inc
  session.client.register = { epoch: view.epoch + 1, primary, backup: 0 }
}

// A stranger's datagram to anybody.
function shout(scene: Scene): void {
  const { chaos, known, stranger, liar } = scene
  const indexes = [...(liar.runner.member.seal?.keys.values() ?? [])].map(({ theirs }) => theirs)
  const name = pick(chaos, ['a', 'b', 'c'])
  stranger.send(`sim:${name}`, datagram(chaos, known, indexes).slice(0, 1232))
  scene.sent += 1
}

// Words of the liar on a link of its own.
function whisper(scene: Scene): void {
  const { chaos, known, liar } = scene
  scene.sent += 1
  liar.runner.do((now, run) => {
    const open = [...run.member.peers.values()].filter((peer) => peer.link !== null)
    if (open.length === 0) return
    const peer = pick(chaos, open)
    const way = next(chaos)
    if (way < 0.35) speak(run, peer, peerBytes(chaos, known, liar.inc))
    else if (way < 0.7) speak(run, peer, objectMessage(chaos, scene.knownObjects))
    else if (way < 0.9) frame(scene, now, peer)
    else if (way < 0.95) run.ports.datagram(pathOf(peer), mutated(chaos, known))
    // What only the two can say, and no link of theirs would.
    else seal.send(run.member.seal!, now, peer.key!, mutated(chaos, known).slice(0, 1132))
    member.touched(run, now)
  })
}

function speak(run: Runtime, peer: Peer, bytes: Uint8Array): void {
  const { outgoing } = peer.link!
  if (outgoing.next - outgoing.base < WAITING_MAX) links.send(run, peer.inc, bytes)
}

function objectsKnown({ liar, good }: Pick<Scene, 'liar' | 'good'>): KnownObjects {
  const { replicas, epoch, me } = liar.parts.objects
  const members = [0, me, ...good.map(({ inc }) => inc), 77, 2 ** 20 - 1]
  return { types: RULES, replicas: [...replicas.values()], me, members, epoch }
}

function frame(scene: Scene, now: number, peer: Peer): void {
  const { chaos } = scene
  if (chance(chaos, 0.7)) {
    const bytes = objectFrame(chaos, scene.knownObjects)
    if (bytes.length > 0) link.post(peer.link!, now, objects.OBJECTS_CHANNEL, bytes)
    return
  }
  const channel = pick(chaos, [4, 5, 6, 255])
  const bytes = noise(chaos, chance(chaos, 0.05) ? 4_000 : 100)
  if (bytes.length > 0) link.post(peer.link!, now, channel, bytes)
}

/** The liar says one thing to one member, over a link that it makes for that if need be. */
export async function tell(
  scene: Scene,
  to: number,
  message: PeerMessage,
  waitMs = 300,
): Promise<void> {
  const { liar } = scene
  const { client } = liar.session
  if (!liar.runner.member.peers.get(to)?.link) {
    client.register = { epoch: client.view.epoch + 1, primary: to, backup: 0 }
    liar.runner.do((now, run) => member.touched(run, now))
    await scene.world.sim.run(500)
  }
  liar.runner.do((now, run) => {
    if (!run.member.peers.get(to)?.link) throw new Error(`the liar has no link to ${to}`)
    run.out.send(to, message)
    member.touched(run, now)
  })
  await scene.world.sim.run(waitMs)
}

/** What must hold of the good members; throws nothing, says what is wrong. */
export function complaints(scene: Scene): string[] {
  const { good, world: made, epoch } = scene
  const found: string[] = []
  const claim = (holds: boolean, what: string): void => void (holds || found.push(what))
  claim(
    made.sim.runUntilSync(() => good.every((one) => one.idle()), 20_000),
    'all is answered',
  )
  made.sim.runSync(500)
  for (const [i, one] of good.entries()) {
    const { client, server } = one.session
    const at = (what: string): string => `${'abc'[i]}: ${what}`
    claim(one.inc === i + 1, at(`keeps its number: ${one.inc}`))
    claim(one.wrong === 0, at(`each outcome is the next: ${one.wrong} are not`))
    claim(client.view.epoch === epoch, at(`epoch ${client.view.epoch} is ${epoch}`))
    claim(client.view.primary === 1, at(`follows 1: ${client.view.primary}`))
    claim(!client.lost, at('is in touch'))
    const numbers = good.map((_, player) => tableOf(one, player + 1)).join()
    const acked = good.map((other) => other.acked).join()
    claim(numbers === acked, at(`table ${numbers}, acknowledged ${acked}`))
    claim(server.log.held.length < HELD_MAX, at(`held ${server.log.held.length}`))
    bounded(one, (holds, what) => claim(holds, at(what)))
  }
  for (const what of wronged(good)) claim(false, what)
  const cards = good.map(({ parts }) => parts.pieces)
  for (const what of cardsWronged(cards[0]!, cards)) claim(false, what)
  const roles = good.map((one) => one.session.server.role).join()
  claim(roles === 'backedup,backup,idle', `roles ${roles}`)
  return found
}

function tableOf(one: Fuzzed, player: number): number {
  return Number(actions.read(one.parts.actions, `player ${player}`) ?? 0)
}

function bounded(one: Fuzzed, claim: (holds: boolean, what: string) => void): void {
  const { peers, seal: own, loopback, touched } = one.runner.member
  const { detectors: watches, server } = one.session
  claim(peers.size <= 4, `peers ${peers.size}`)
  claim(own!.keys.size <= 12, `keys ${own!.keys.size}`)
  claim(own!.jobs.size === 0, `jobs ${own!.jobs.size}`)
  claim(watches.size <= 4, `watches ${watches.size}`)
  claim(loopback.length === 0 && touched.size <= 4, 'nothing is left over')
  const refreshed = 'lead' in server ? server.lead.refreshed.size : 0
  claim(refreshed <= 4, `refreshed ${refreshed}`)
  claim(!('incoming' in server) || server.incoming === null, 'no snapshot is half here')
  claim(server.durable.players.size <= 64, `players ${server.durable.players.size}`)
  objectsBounded(one, claim)
  for (const { link: open } of peers.values()) {
    if (!open) continue
    claim(open.outgoing.bytes <= 1024 * 1024, `queue ${open.outgoing.bytes}`)
    claim(open.incoming.early.size <= open.limits.reorder, `early ${open.incoming.early.size}`)
  }
}

/** What came of the lies about objects at the primary. */
export function objectsRefused({ good }: Scene): objects.Objects['counters'] {
  return good[0]!.parts.objects.counters
}

/** Malformed or forged words about cards at the good members, and the newest generation. */
export function cardsRefused({ good }: Scene): { malformed: number; made: number } {
  const malformed = good.reduce((sum, { parts }) => sum + parts.pieces.counters.malformed, 0)
  return { malformed, made: good[0]!.parts.pieces.committed.gen % 2 ** 32 }
}

/** What good members refused: malformed, for no keys of theirs, no handshakes for them. */
export function refused({ good }: Scene): { malformed: number; unknown: number; unproven: number } {
  const sum = (count: (own: Fuzzed['runner']['member']) => number): number =>
    good.reduce((total, { runner }) => total + count(runner.member), 0)
  return {
    malformed: sum(({ counters, seal: own }) => counters.malformed + own!.counters.malformed),
    unknown: sum(({ seal: own }) => own!.counters.unknown),
    unproven: sum(({ seal: own }) => own!.counters.unproven),
  }
}
