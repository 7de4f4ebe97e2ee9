/**
 * The shipped mailbox in a small world: a few letters, crashes of either side between any two of
 * its steps, and a network that loses, doubles and reorders batches, or connections that break.
 */

import type { Model } from '../../packages/sim/src/checker/checker.ts'
import * as memo from './memo.ts'
import { isLate, maySend, type MailScope, type Side } from './mailbox-side.ts'
import * as scenes from './mailbox-scene.ts'
import type { MailAction, MailScene, MailTables } from './mailbox-scene.ts'

/** The model of one scope. */
export function mailboxModel(name: string, scope: MailScope): Model<MailScene> {
  const tables = scenes.createTables(scope)
  const steps = stepsOf(tables)
  const { place } = tables
  const bothWays = (claim: (from: Side, to: Side) => string | null): Claim => {
    const { values } = tables.sides
    const judged = memo.remembering((a, b): true | string => {
      return claim(values[a]!, values[b]!) ?? claim(values[b]!, values[a]!) ?? true
    })
    return (scene) => judged(scene[place.side]!, scene[place.side + 1]!)
  }
  const each = memo.remembering((side) => bytesFit(tables.sides.values[side]!))
  return {
    name,
    init: () => scenes.begin(tables),
    actions: (scene) => actions(tables, steps, scene),
    always: {
      'mail.once': bothWays(isPrefix),
      ...(!scope.bug && {
        'mail.bounds': (scene: MailScene) => {
          const fits = each(scene[place.side]!, 0)
          return fits === true ? each(scene[place.side + 1]!, 0) : fits
        },
      }),
      ...(scope.connections?.policy === 'hello' && {
        'mail.quiet': (scene: MailScene) =>
          scene[place.idle] === 0 || 'a batch brought nothing new',
      }),
    },
    settled: { 'mail.drain': bothWays(isDrained) },
    sometimes: sometimes(tables),
    flat: place.side,
    show: (scene) => show(tables, scene),
  }
}

type Claim = (scene: MailScene) => true | string

function isPrefix(from: Side, to: Side): string | null {
  const { effects } = to.disk
  const { posted } = from.disk
  if (effects.every((effect, at) => effect === posted[at])) return null
  return `${to.name} did [${effects.join()}], ${from.name} posted [${posted.join()}]`
}

function bytesFit({ disk, box, other, pending }: Side): true | string {
  if (pending.length > 0) return true
  const bytes = disk.letters.reduce((sum, { body }) => sum + body.length + 11, 0)
  const known = box.peers.get(other)?.bytes ?? 0
  return known === bytes || `${known} bytes are counted, ${bytes} are kept`
}

function isDrained(from: Side, to: Side): string | null {
  const { posted, letters } = from.disk
  const { effects } = to.disk
  if (effects.length < posted.length) return `lost: ${posted.slice(effects.length).join()}`
  return letters.length > 0 ? `the outbox of ${from.name} still holds ${letters.length}` : null
}

/** All steps, each made once; the two that go on, by the place of what is on its way. */
interface Steps {
  post: MailAction
  ofSide: Record<'commit' | 'send' | 'pump' | 'pumpInTime' | 'late' | 'crash', MailAction>[]
  arrives(index: number): MailAction
  lost(index: number): MailAction
  connect: MailAction
  breaks: MailAction
}

function stepsOf(tables: MailTables): Steps {
  const post = scenes.inputOf(tables, { kind: 'post' })
  const arrives = memo.remembering((index) => arrival(tables, index))
  const lost = memo.remembering((index) => loss(tables, index))
  return {
    post: { label: 'a posts', next: (scene) => scenes.act(tables, scene, 0, post) },
    ofSide: ['a', 'b'].map((name, at) => sideSteps(tables, name, at)),
    arrives: (index) => arrives(index, 0),
    lost: (index) => lost(index, 0),
    connect: { label: 'they connect', next: (scene) => scenes.connect(tables, scene, true) },
    breaks: {
      label: 'the connection breaks',
      environment: true,
      next: (scene) => {
        scenes.spend(tables, scene, 'breaks')
        scenes.connect(tables, scene, false)
      },
    },
  }
}

function sideSteps(tables: MailTables, name: string, at: number): Steps['ofSide'][number] {
  const doing = (label: string, input: Parameters<typeof scenes.inputOf>[1]): MailAction => {
    const number = scenes.inputOf(tables, input)
    return { label, next: (scene) => scenes.act(tables, scene, at, number) }
  }
  return {
    commit: doing(`${name} commits`, { kind: 'commit' }),
    send: doing(`${name} sends`, { kind: 'send' }),
    pump: doing(`${name} sends`, { kind: 'pump', now: 0 }),
    pumpInTime: doing(`${name} sends in time`, { kind: 'pump', now: 1_000 }),
    late: doing(`${name} handles its first letter again`, { kind: 'late' }),
    crash: {
      label: `${name} crashes`,
      environment: true,
      next: (scene) => scenes.crash(tables, scene, at),
    },
  }
}

function arrival(tables: MailTables, index: number): MailAction {
  const { hears, mails, scope } = tables
  const mailIn = (scene: MailScene): number => scenes.netOf(tables, scene)[index]!
  return {
    label: (scene) => {
      const mail = mails.values[mailIn(scene)]!
      return `${['a', 'b'][mail.to]} takes ${wordOf(mail)}`
    },
    next: (scene) => {
      const mail = mailIn(scene)
      if (scope.connections) scenes.take(tables, scene, index)
      scenes.act(tables, scene, mails.values[mail]!.to, hears[mail]!)
    },
  }
}

function loss(tables: MailTables, index: number): MailAction {
  return {
    label: (scene) =>
      `${wordOf(tables.mails.values[scenes.netOf(tables, scene)[index]!]!)} is lost`,
    environment: true,
    next: (scene) => {
      scenes.spend(tables, scene, 'losses')
      scenes.take(tables, scene, index)
    },
  }
}

function wordOf({ message, key }: scenes.Mail): string {
  if (message.kind !== 'batch') return `${message.kind} ${key}`
  return `[${message.letters.map(({ n }) => n).join()}] and ack ${message.ack}`
}

function actions(tables: MailTables, all: Steps, scene: MailScene): MailAction[] {
  const { scope, place } = tables
  const { connections } = scope
  const steps: MailAction[] = []
  const a = scenes.sideOf(tables, scene, 0)
  if (a.disk.posted.length < scope.letters && a.pending.length === 0) steps.push(all.post)
  const isConnected = scene[place.connected] === 1
  const { crashes, breaks } = scenes.leftOf(tables, scene)
  for (const [at, { commit, send, pump, pumpInTime, late, crash }] of all.ofSide.entries()) {
    const side = scenes.sideOf(tables, scene, at)
    if (side.pending.length > 0) steps.push(commit)
    if (isLate(scope, side)) steps.push(late)
    if (maySend(scope, side)) {
      if (!connections && scenes.hasBatch(tables, scene, at)) steps.push(send)
      if (isConnected) steps.push(pump, pumpInTime)
    }
    if (crashes > 0) steps.push(crash)
  }
  arrivals(tables, all, scene, steps)
  if (!connections) return steps
  if (!isConnected) steps.push(all.connect)
  else if (breaks > 0) steps.push(all.breaks)
  return steps
}

function arrivals(tables: MailTables, all: Steps, scene: MailScene, steps: MailAction[]): void {
  const { mails, scope } = tables
  const net = scenes.netOf(tables, scene)
  const { losses } = scenes.leftOf(tables, scene)
  const begun = [false, false]
  for (let index = 0; index < net.length; index++) {
    const { to } = mails.values[net[index]!]!
    const isDue = !scope.connections || !begun[to]
    begun[to] = true
    if (isDue && scenes.sideOf(tables, scene, to).pending.length === 0)
      steps.push(all.arrives(index))
    if (losses > 0) steps.push(all.lost(index))
  }
}

function sometimes(tables: MailTables): NonNullable<Model<MailScene>['sometimes']> {
  const { scope } = tables
  if (scope.bug) return {}
  const side = (scene: MailScene, at: number): Side => scenes.sideOf(tables, scene, at)
  return {
    'all letters took effect': (scene) => side(scene, 1).disk.effects.length === scope.letters,
    ...(scope.crashes > 0 && {
      'a letter took effect in a later life': (scene: MailScene) => {
        const { life, disk, pending } = side(scene, 1)
        return life > 0 && disk.effects.length === 0 && pending.length > 0
      },
    }),
    ...(scope.connections?.policy !== 'hello' && {
      'a letter came again': (scene: MailScene) =>
        [0, 1].some((at) => side(scene, at).box.counters.duplicates > 0),
    }),
  }
}

function show(tables: MailTables, scene: MailScene): string {
  const each = [0, 1].map((at) => {
    const { name, disk, pending } = scenes.sideOf(tables, scene, at)
    const heads = Object.values(disk.heads).map(
      ({ acked, heard }) => `${acked} acked ${heard} heard`,
    )
    return `${name}: [${disk.effects.join()}] ${heads.join()} ${pending.length} not durable`
  })
  return `${each.join('; ')}; ${scenes.netOf(tables, scene).length} on the way`
}
