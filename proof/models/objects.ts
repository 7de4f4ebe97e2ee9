/**
 * The shipped objects in a small world: one object, a few members, every order of messages and of
 * what may happen to owners, primaries and members (G1-G15, R1, U1 of the scopes).
 *
 * The claims are those of docs/protocols/objects.md: one owner of each version, no version goes
 * back, what an owner believes to have told is there, and when all is told all agree.
 *
 * Members take and give the object, its owner answers who asks, links are lost and found. There are
 * no clocks: what ends by a time limit alone does not end here, and is found.
 */

import type { PeerId } from '../../packages/holdfast/src/machine.ts'
import { KIND } from '../../packages/holdfast/src/objects/protocol/messages.ts'
import {
  isMine,
  type Objects,
  type TypeRules,
} from '../../packages/holdfast/src/objects/protocol/objects.ts'
import * as cells from '../../packages/sim/src/checker/cells.ts'
import type { CellModel } from '../../packages/sim/src/checker/checker.ts'
import { readMessage } from '../../packages/sim/src/enact.ts'
import { type Input, typesOf } from './objects-peer.ts'
import {
  act,
  arrive,
  ARRAYS,
  ASIDE,
  begin,
  type Budgets,
  create,
  createTables,
  CREATOR,
  deliver,
  type Face,
  faceIn,
  has,
  HEIR,
  incsOf,
  join,
  linkAt,
  type Packet,
  relink,
  remove,
  type Scene,
  type Scope,
  type Step,
  type Tables,
  takeOver,
  termIn,
  versionOf,
  withoutPacket,
  withPacket,
  type World,
} from './objects-scene.ts'

/** The model of one scope. */
export function objectsModel(name: string, scope: Scope): CellModel<Scene> {
  const tables = createTables(scope)
  const steps = stepsOf(tables)
  const judge = (claim: Claim) => (scene: Scene) => claim(tables, scene)
  return {
    ...{ name, cells: tables.all, arrays: ARRAYS, aside: ASIDE },
    init: () => begin(tables),
    actions: (scene) => actions(tables, steps, scene),
    always: {
      'obj.forward': ({ broken }) => broken === '' || broken,
      'obj.unique': judge(unique),
      'obj.truth': judge(truth),
      'request.one': one,
    },
    settled: {
      'obj.converge': judge(converge),
      'obj.seen': judge(seen),
      'request.ends': judge(ends),
    },
    sometimes: sometimes(tables),
    show: (scene) => show(tables, scene),
  }
}

type Claim = (tables: Tables, scene: Scene) => true | string
type Left = Scene['left']

/** Steps that follow from a few cells, made once for each of these. */
interface Steps {
  packet(packet: Packet): Record<'arrives' | 'lost' | 'twice' | 'doubted' | 'missed', Step>
  /** Of a member by itself, and as primary. */
  owning(peer: Objects, left: Left): readonly Step[]
  granting(peer: Objects, left: Left): readonly Step[]
  membership(world: World, left: Left): readonly Step[]
  asking(peer: Objects, left: Left): readonly Step[]
}

function stepsOf(tables: Tables): Steps {
  const { all } = tables
  return {
    packet: cells.remember(all, (packet: Packet) => packetSteps(tables, packet)),
    owning: cells.remember(all, (peer: Objects, left: Left) => owning(tables, peer, left)),
    granting: cells.remember(all, (peer: Objects, left: Left) => granting(tables, peer, left)),
    membership: cells.remember(all, (world: World, left: Left) => membership(tables, world, left)),
    asking: cells.remember(all, (peer: Objects, left: Left) => [
      ...taking(tables, peer, left),
      ...giving(tables, peer, left),
      ...answering(tables, peer),
    ]),
  }
}

function actions(tables: Tables, all: Steps, scene: Scene): Step[] {
  const { scope, members } = tables
  const { world, left, peers } = scene
  const steps: Step[] = []
  underWay(tables, scene, steps)
  losses(all, scene, steps)
  for (let inc = 1; inc <= members; inc++) {
    if (!has(world.up, inc)) continue
    if (inc === CREATOR && !world.created) {
      steps.push({ label: `${CREATOR} creates`, next: (to) => create(tables, to) })
    }
    const face = faceIn(tables, scene, inc)
    if (face.owns) steps.push(...all.owning(face.state, left))
  }
  for (const { primary } of world.terms) {
    const face = faceIn(tables, scene, primary)
    if (!has(world.up, primary) || !face.leads || !isAlive(face)) continue
    steps.push(...all.granting(face.state, left))
  }
  if (scope.joins || scope.removals || scope.takeovers) steps.push(...all.membership(world, left))
  if (!scope.takes) return steps
  const { primary, members: here } = termIn(scene)
  for (const inc of incsOf(here & world.up)) steps.push(...all.asking(peers[inc - 1]!, left))
  if (left.relinks === 0 || !has(world.up, primary)) return steps
  for (const inc of incsOf(here & world.up)) {
    if (inc === primary || scene.links[linkAt(tables, primary, inc)] === null) continue
    const label = `the link of ${primary} and ${inc} is lost, and there is another`
    const next = (to: Scene): void => relink(tables, to, primary, inc)
    steps.push(spending(tables, 'relinks', label, next))
  }
  return steps
}

function isAlive({ own }: Face): boolean {
  return own !== null && !own.dead
}

// What is under way on links, first what comes, then that it has come.
function underWay(tables: Tables, { links, acks, world }: Scene, steps: Step[]): void {
  const { members } = tables
  for (let at = 0; at < links.length; at++) {
    const [from, to] = [Math.floor(at / members) + 1, (at % members) + 1]
    if (!links[at]?.length || !has(world.up, to)) continue
    steps.push({
      label: (scene) => `${from} to ${to}: ${wordOn(tables, scene, at)}`,
      next: (scene) => arrive(tables, scene, from, to),
    })
    if (has(world.up, from)) continue
    const lose = (scene: Scene): void => void (scene.links[at] = null)
    steps.push({ label: `the rest of ${from}>${to} is lost`, next: lose })
  }
  for (let at = 0; at < acks.length; at++) {
    if (acks[at] === 0) continue
    const [from, to] = [Math.floor(at / members) + 1, (at % members) + 1]
    steps.push({
      label: `${from}>${to} is acked`,
      next: (scene) => deliver(tables, scene, from, to),
    })
  }
}

// What may become of packets with updates.
function losses(all: Steps, { packets, silent, left }: Scene, steps: Step[]): void {
  for (const packet of packets) {
    const { arrives, lost, twice, doubted } = all.packet(packet)
    steps.push(arrives)
    if (left.losses > 0) steps.push(lost)
    if (left.doubles > 0 && !packet.ack) steps.push(twice)
    if (left.doubts > 0) steps.push(doubted)
  }
  for (const packet of silent) steps.push(all.packet(packet).missed)
}

function packetSteps(tables: Tables, packet: Packet): ReturnType<Steps['packet']> {
  const { from, to, seq, frame, ack } = packet
  const name = `packet ${seq} of ${from} to ${to}`
  const what = ack ? `the ack of ${name}` : name
  const arrives: Input = { kind: 'frame', from, bytes: frame }
  const acked: Input = { kind: 'acked', peer: to, seq }
  const missed: Input = { kind: 'lost', peer: to, seq }
  const acknowledged = { ...packet, ack: true }
  const land = (scene: Scene): void => {
    scene.packets = withoutPacket(tables, scene.packets, packet)
    if (ack) return act(tables, scene, from, acked)
    act(tables, scene, to, arrives)
    // Where nothing is lost it makes no difference when the ack comes.
    if (!tables.lossy) act(tables, scene, from, acked)
    else scene.packets = withPacket(tables, scene.packets, acknowledged)
  }
  const vanish = (scene: Scene): void => {
    scene.packets = withoutPacket(tables, scene.packets, packet)
    scene.silent = withPacket(tables, scene.silent, packet)
  }
  const miss = (scene: Scene): void => {
    scene.silent = withoutPacket(tables, scene.silent, packet)
    act(tables, scene, from, missed)
  }
  return {
    arrives: { label: `${what} arrives`, next: land },
    lost: spending(tables, 'losses', `${what} is lost`, vanish),
    twice: doing(tables, to, 'doubles', `${what} arrives twice`, arrives),
    doubted: doing(tables, from, 'doubts', `${name} is taken for lost`, missed),
    missed: { label: `packet ${seq} of ${from} is missed`, next: miss },
  }
}

// A step that may happen only so often, and need not happen.
function spending(tables: Tables, budget: keyof Budgets, label: string, next: Step['next']): Step {
  const spent = (scene: Scene): void => {
    scene.left = tables.spend(scene.left, budget)
    next(scene)
  }
  return { label, environment: true, next: spent }
}

// Such a step of one member.
function doing(
  tables: Tables,
  inc: PeerId,
  budget: keyof Budgets,
  label: string,
  input: Input,
): Step {
  return spending(tables, budget, label, (scene) => act(tables, scene, inc, input))
}

// An owner writes, and destroys what is its own.
function owning(tables: Tables, peer: Objects, left: Left): Step[] {
  const { scope } = tables
  const { me } = peer
  const steps: Step[] = []
  for (let field = 0; field < (scope.fields ?? 1); field++) {
    if (left.writes === 0 || left.packets <= 0) break
    const label = `${me} writes field ${field}`
    steps.push(doing(tables, me, 'writes', label, { kind: 'write', field }))
  }
  if (left.destroys > 0 && (scope.destroyers?.includes(me) ?? true)) {
    steps.push(doing(tables, me, 'destroys', `${me} destroys`, { kind: 'destroy' }))
  }
  return steps
}

function granting(tables: Tables, peer: Objects, left: Left): Step[] {
  const { grantees } = tables.scope
  const { me, own } = tables.face(peer)
  if (left.grants === 0) return []
  return [...peer.here.keys()]
    .filter((to) => to !== own!.owner && (grantees?.includes(to) ?? true))
    .map((to) => doing(tables, me, 'grants', `${me} grants it to ${to}`, { kind: 'grant', to }))
}

function membership(tables: Tables, { up, terms }: World, left: Left): Step[] {
  const { removed } = tables.scope
  const { primary, members } = terms.at(-1)!
  const steps: Step[] = []
  for (const inc of incsOf(members)) {
    if (left.removals === 0 || !has(up, primary)) break
    if (inc === primary || !(removed?.includes(inc) ?? true)) continue
    const next = (scene: Scene): void => remove(tables, scene, inc)
    steps.push(spending(tables, 'removals', `${primary} removes ${inc}`, next))
  }
  if (left.joins > 0) {
    const next = (scene: Scene): void => join(tables, scene)
    steps.push(spending(tables, 'joins', `${tables.members} is let in`, next))
  }
  if (left.takeovers > 0 && has(members, HEIR) && primary !== HEIR) {
    const next = (scene: Scene): void => takeOver(tables, scene)
    steps.push(spending(tables, 'takeovers', `${HEIR} takes over`, next))
  }
  return steps
}

function taking(tables: Tables, peer: Objects, left: Left): Step[] {
  const { me, own } = tables.face(peer)
  const may = tables.scope.takers?.includes(me) ?? true
  // A member that waits for an answer waits for that one.
  if (left.takes === 0 || !may || !own || own.dead || own.hidden) return []
  if (own.owner === me || peer.requests.size > 0) return []
  return [doing(tables, me, 'takes', `${me} takes`, { kind: 'take' })]
}

function giving(tables: Tables, peer: Objects, left: Left): Step[] {
  const { givees } = tables.scope
  const { me, own } = tables.face(peer)
  if (left.gives === 0 || !own || !isMine(peer, own)) return []
  return [...peer.here.keys()]
    .filter((to) => to !== me && (givees?.includes(to) ?? true))
    .map((to) => doing(tables, me, 'gives', `${me} gives it to ${to}`, { kind: 'give', to }))
}

// An application that is asked answers in the end.
function answering(tables: Tables, peer: Objects): Step[] {
  if (![...peer.incomingAsks.values()].some(({ answer }) => answer === null)) return []
  return [true, false].map((yes) => {
    const next = (scene: Scene): void => act(tables, scene, peer.me, { kind: 'reply', yes })
    return { label: `${peer.me} says ${yes ? 'yes' : 'no'}`, next }
  })
}

function unique(tables: Tables, scene: Scene): true | string {
  const owners = new Map<number, PeerId>()
  for (const inc of incsOf(scene.world.up)) {
    const face = faceIn(tables, scene, inc)
    if (!face.owns) continue
    const other = owners.get(face.rank)
    if (other !== undefined) return `${other} and ${inc} both own version ${versionOf(face)}`
    owners.set(face.rank, inc)
  }
  return true
}

// Whoever believes that a peer has something is right, or the peer has something newer.
function truth(tables: Tables, scene: Scene): true | string {
  const { up } = scene.world
  for (const inc of incsOf(up)) {
    const face = faceIn(tables, scene, inc)
    if (!isAlive(face)) continue
    for (const { peer, acked } of face.beliefs) {
      const fault = has(up, peer) ? lackOf(face, acked, faceIn(tables, scene, peer)) : null
      if (fault) return `${inc} believes that ${peer} has oseq ${acked}: ${fault}`
    }
    if (face.owns) continue
    const { oseq } = face.own!
    const told = scene.history[oseq] ?? null
    if (told === null || told === face.fields) continue
    return `${inc} has ${face.fields} at oseq ${oseq}, its owner had ${told}`
  }
  return true
}

function lackOf(own: Face, acked: number, theirs: Face): string | null {
  if (!theirs.own) return 'it has nothing'
  if (theirs.own.dead || theirs.rank > own.rank) return null
  if (theirs.rank < own.rank) return `it has version ${versionOf(theirs)}`
  return theirs.own.oseq < acked ? `it has ${theirs.own.oseq}` : null
}

// Of all who ask about one version one at most is told that it is granted.
function one({ granted }: Scene): true | string {
  for (const [version, members] of granted) {
    if (members.length > 1) {
      return `of version ${version} ${members.join(' and ')} were told granted`
    }
  }
  return true
}

function here(tables: Tables, scene: Scene): Face[] {
  const { members } = termIn(scene)
  return incsOf(members & scene.world.up).map((inc) => faceIn(tables, scene, inc))
}

function converge(tables: Tables, scene: Scene): true | string {
  const { hides } = tables.scope
  const faces = here(tables, scene)
  // A member that never was allowed to see it knows nothing of it.
  const known = faces.map(({ me, own, standing }) => (me === hides && !own ? 'hidden' : standing))
  const views = new Set(known.filter((view) => view !== 'hidden'))
  if (views.size > 1)
    return `they differ: ${faces.map(({ me }, i) => `${me} ${known[i]}`).join('; ')}`
  const first = faces.find(({ own }) => own && !own.hidden)?.own
  if (!first || first.dead || faces.some(({ me }) => me === first.owner)) return true
  return `its owner ${first.owner} is no member`
}

// Whoever may see it as it is in the end sees it. (That somebody sees too much time puts right.)
function seen(tables: Tables, scene: Scene): true | string {
  const { hides = 0 } = tables.scope
  const faces = here(tables, scene)
  const owner = faces.find(({ owns }) => owns)
  if (!owner || hides === 0) return true
  const { fields } = owner.own!
  const blind = faces.find(({ me, own }) => {
    return (me !== hides || Number(fields[0]) % 2 === 0) && (!own || own.hidden)
  })
  return !blind || `${blind.me} does not see ${owner.fields} of ${owner.me}`
}

// When all is told nobody waits, and the primary has nothing left to decide.
function ends(tables: Tables, scene: Scene): true | string {
  const waiting = here(tables, scene).find(({ waits }) => waits !== '')
  return !waiting || waiting.waits
}

// What happens in some state, or the scope is too small.
function sometimes(tables: Tables): Record<string, (scene: Scene) => boolean> {
  const { grants, destroys, writes, takeovers, takes, hides } = tables.scope
  const someone =
    (holds: (own: NonNullable<Face['own']>) => boolean) =>
    (scene: Scene): boolean =>
      incsOf(scene.world.up).some((inc) => {
        const { own } = faceIn(tables, scene, inc)
        return own !== null && holds(own)
      })
  return {
    ...(grants && { 'it changed hands': someone(({ version }) => version.count > 0) }),
    ...(destroys && { 'it is gone': someone(({ dead }) => dead) }),
    ...(writes && { 'it was written': someone(({ oseq }) => oseq > 1) }),
    ...(takeovers &&
      grants && {
        'a new primary adopted or granted': someone(({ version }) => version.epoch > 1),
      }),
    ...(takes && { 'a take was granted': ({ granted }: Scene) => granted.length > 0 }),
    ...(hides && { 'it was hidden': someone(({ hidden }) => hidden) }),
  }
}

function show(tables: Tables, scene: Scene): string {
  return incsOf(scene.world.up)
    .map((inc) => faceIn(tables, scene, inc))
    .map(({ own, me, standing }) => `${me}: ${own ? standing : 'nothing'}`)
    .join('  ')
}

function wordOn(tables: Tables, { links }: Scene, at: number): string {
  const word = links[at]![0]!
  if (word.kind === 'members') {
    return word.gone === 0 ? `VIEW of epoch ${word.epoch}` : `${word.gone} is gone`
  }
  const { bytes } = word as Input & { kind: 'message' }
  return phrase(bytes, typesOf(tables.scope.hides ?? 0))
}

const NAMES: Readonly<Record<number, string>> = Object.fromEntries(
  Object.entries(KIND).map(([name, kind]) => [kind, name.toUpperCase()]),
)

// A message in one phrase, such as `MIGRATE 1.1 to 3`: with epoch and count of its version.
function phrase(bytes: Uint8Array, types: readonly TypeRules[]): string {
  const heard = readMessage(bytes, types)
  if (!heard) return NAMES[bytes[0]!] ?? 'something'
  const { word, version, owner } = heard
  const number = `${version.epoch}.${version.count}`
  const left = bytes[0] === KIND.unowned ? ', left behind' : ''
  switch (word) {
    case 'CREATE':
      return `CREATE ${number} of ${owner}${left}`
    case 'MIGRATE':
      return `MIGRATE ${number} to ${owner}${left}`
    case 'DESTROY':
      return `DESTROY ${number} by ${owner}${left}`
    case 'GRANT':
      return `GRANT ${number}, it was of ${owner}`
  }
}
