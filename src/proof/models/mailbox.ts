/**
 * The shipped mailbox in a small world: a few letters, crashes of either side between any two of
 * its steps, and a network that loses, doubles and reorders batches, or connections that break.
 */

import type { Action, Model } from '../../sim/checker.ts'
import * as scenes from './mailbox-scene.ts'
import { keyOf } from './mailbox-scene.ts'
import type { MailScene, MailScope, Side } from './mailbox-scene.ts'

/** The model of one scope. */
export function mailboxModel(scope: MailScope): Model<MailScene> {
  return {
    name: scope.name,
    init: () => scenes.begin(scope),
    actions: (scene) => actions(scope, scene),
    always: {
      'mail.once': ({ sides: [a, b] }) => isPrefix(a!, b!) ?? isPrefix(b!, a!) ?? true,
      ...(!scope.bug && {
        'mail.bounds': ({ sides }: MailScene) =>
          sides.map(bytesFit).find((why) => why !== true) ?? true,
      }),
      ...(scope.connections?.policy === 'hello' && {
        'mail.quiet': ({ idle }: MailScene) => idle === 0 || 'a batch brought nothing new',
      }),
    },
    settled: {
      'mail.drain': ({ sides: [a, b] }) => isDrained(a!, b!) ?? isDrained(b!, a!) ?? true,
    },
    sometimes: sometimes(scope),
    canonical: essence,
    show,
  }
}

// What is only counted tells no states apart.
function essence({ sides, net, connected, left, idle }: MailScene): unknown {
  const each = sides.map(({ box, disk, pending, life }) => [
    [...box.peers.values()].map(({ link, posted, acked, heard }) => [posted, acked, heard, link]),
    [disk.effects, disk.posted, disk.letters.length, Object.values(disk.heads)],
    pending.map((change) => [change.kind, change.kind === 'posted' ? change.n : 0]),
    life,
  ])
  return [each, net.map(keyOf), connected, left, idle > 0]
}

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

function* actions(scope: MailScope, scene: MailScene): Iterable<Action<MailScene>> {
  const { sides, left } = scene
  const [a] = sides
  if (a!.disk.posted.length < scope.letters && a!.pending.length === 0) {
    yield { label: 'a posts', next: (copy) => scenes.post(scope, copy, 0) }
  }
  for (const [at, side] of sides.entries()) yield* ofSide(scope, scene, side, at)
  yield* arrivals(scope, scene)
  if (!scope.connections) return
  if (!scene.connected) yield { label: 'they connect', next: scenes.connect }
  else if (left.breaks > 0) {
    yield {
      label: 'the connection breaks',
      environment: true,
      next: (copy) => {
        copy.left.breaks--
        scenes.disconnect(copy)
      },
    }
  }
}

function* ofSide(
  scope: MailScope,
  scene: MailScene,
  side: Side,
  at: number,
): Iterable<Action<MailScene>> {
  const { name } = side
  if (side.pending.length > 0) {
    yield { label: `${name} commits`, next: (copy) => scenes.commit(scope, copy, at) }
  }
  if (scenes.maySend(scope, side)) {
    if (!scope.connections && scenes.batchOf(scope, scene, at)) {
      yield { label: `${name} sends`, next: (copy) => scenes.sendBatch(scope, copy, at) }
    }
    if (scene.connected) {
      yield { label: `${name} sends`, next: (copy) => scenes.pump(scope, copy, at, 0) }
      yield { label: `${name} sends in time`, next: (copy) => scenes.pump(scope, copy, at, 1_000) }
    }
  }
  if (scene.left.crashes > 0) {
    yield {
      label: `${name} crashes`,
      environment: true,
      next: (copy) => scenes.crash(scope, copy, at),
    }
  }
}

function* arrivals(scope: MailScope, scene: MailScene): Iterable<Action<MailScene>> {
  for (const [index, { to, message }] of scene.net.entries()) {
    const isFirst = scene.net.findIndex((mail) => mail.to === to) === index
    const what =
      message.kind === 'batch' ? batch(message) : `${message.kind} ${keyOf({ to, message })}`
    if (scene.sides[to]!.pending.length === 0 && (!scope.connections || isFirst)) {
      const next = (copy: MailScene): void => scenes.arrive(scope, copy, index)
      yield { label: `${scene.sides[to]!.name} takes ${what}`, next }
    }
    if (scene.left.losses === 0) continue
    yield {
      label: `${what} is lost`,
      environment: true,
      next: (copy) => {
        copy.left.losses--
        copy.net.splice(index, 1)
      },
    }
  }
}

function batch({ letters, ack }: { letters: { n: number }[]; ack: number }): string {
  return `[${letters.map(({ n }) => n).join()}] and ack ${ack}`
}

function sometimes(scope: MailScope): Record<string, (scene: MailScene) => boolean> {
  if (scope.bug) return {}
  const b = ({ sides }: MailScene): Side => sides[1]!
  return {
    'all letters took effect': (scene) => b(scene).disk.effects.length === scope.letters,
    ...(scope.crashes > 0 && {
      'a letter took effect in a later life': (scene: MailScene) =>
        b(scene).life > 0 && b(scene).disk.effects.length === 0 && b(scene).pending.length > 0,
    }),
    ...(scope.connections?.policy !== 'hello' && {
      'a letter came again': ({ sides }: MailScene) =>
        sides.some(({ box }) => box.counters.duplicates > 0),
    }),
  }
}

function show({ sides, net }: MailScene): string {
  const each = sides.map(({ name, disk, pending }) => {
    const heads = Object.values(disk.heads).map(
      ({ acked, heard }) => `${acked} acked ${heard} heard`,
    )
    return `${name}: [${disk.effects.join()}] ${heads.join()} ${pending.length} not durable`
  })
  return `${each.join('; ')}; ${net.length} on the way`
}
