/**
 * A cluster of members with objects, of which 1 leads, and a line for each message as the document
 * reads it, each packet of updates, and each event. Objects are `creator.count`, versions
 * `epoch.grants`.
 */

import { expect } from 'vitest'
import type { PeerId } from '../../packages/holdfast/src/machine.ts'
import * as objects from '../../packages/holdfast/src/objects/protocol/objects.ts'
import { readUpdates } from '../standard/objects.ts'
import { readWhole } from '../standard/reader.ts'
import { type Read, type Value } from '../standard/values.ts'
import { Script, standardOf } from '../transcript.ts'
import * as cluster from './cluster.ts'

/** Places of the types: anybody takes one of the first; of the second the owner is asked. */
export const TYPE = { free: 0, asked: 1 } as const

const TYPES = [cluster.rules(), cluster.rules({ take: 'ask' })]
const STANDARD = standardOf({
  types: TYPES.map(({ schema }) => ({ schema: schema.text, moves: false })),
})

/** See above. */
export class Stage {
  readonly script = new Script({ untold: ['ages', 'key', 'mask'] })
  readonly cluster: cluster.Cluster

  constructor(start: cluster.Start = {}) {
    this.cluster = cluster.meet({ types: TYPES, ...start })
    this.cluster.ear = {
      letter: (from, to, bytes) => {
        const read = readWhole(STANDARD, 'Objects', bytes)
        this.#tell(from, `-> ${to}  ${this.script.brief(short(read))}`)
      },
      packet: ({ from, to, seq, bytes }) => {
        const read = readUpdates(STANDARD, bytes)
        this.#tell(from, `-> ${to}  #${seq} ${this.script.brief(read.map(short))}`)
      },
      event: (inc, event) => {
        const { kind, ...more } = event
        const id = 'key' in more ? { id: objects.idOf(more.key) } : {}
        this.#tell(inc, `is told: ${this.script.brief({ kind, ...id, ...more })}`)
      },
    }
  }

  create(inc: PeerId, type: number = TYPE.free): number {
    this.#tell(inc, 'creates an object')
    return cluster.spawn(this.cluster, inc, [1, 1], type)
  }

  set(inc: PeerId, key: number, one: number, field = 0): void {
    this.#tell(inc, `sets ${field === 0 ? 'one' : 'other'}=${one} of ${objects.idOf(key)}`)
    cluster.write(this.cluster, inc, key, one, field)
  }

  destroy(inc: PeerId, key: number): void {
    this.#tell(inc, `destroys ${objects.idOf(key)}`)
    cluster.destroy(this.cluster, inc, key)
  }

  take(inc: PeerId, key: number): void {
    this.#tell(inc, `wants ${objects.idOf(key)}`)
    cluster.take(this.cluster, inc, key)
  }

  give(inc: PeerId, key: number, to: PeerId): void {
    this.#tell(inc, `gives ${objects.idOf(key)} to ${to}`)
    cluster.give(this.cluster, inc, key, to)
  }

  answer(inc: PeerId, key: number, yes: boolean): void {
    this.#tell(inc, `says ${yes ? 'yes' : 'no'} about ${objects.idOf(key)}`)
    cluster.reply(this.cluster, inc, key, yes)
  }

  join(inc: PeerId, player: number = inc): void {
    this.#tell(inc, `comes, as player ${player}`)
    cluster.join(this.cluster, inc, player)
  }

  /** A member is dead, and the others hear it. @param left  it left for good */
  lose(inc: PeerId, left = false): void {
    this.#tell(inc, left ? 'leaves' : 'is dead')
    cluster.lose(this.cluster, inc, left)
  }

  takeOver(heir: PeerId): void {
    this.#tell(this.cluster.primary, `is dead, and ${heir} leads`)
    cluster.takeOver(this.cluster, heir)
  }

  /** A packet with what a member has to say leaves, and is lost. */
  losesPacket(from: PeerId, to: PeerId): void {
    const packet = cluster.pull(this.cluster, from, to)
    if (!packet) return expect.fail(`${from} has nothing to say to ${to}`)
    cluster.verdict(this.cluster, packet, false)
    this.#tell(from, `takes #${packet.seq} for lost`)
  }

  /** One that stays under way. @returns its arrival */
  packet(from: PeerId, to: PeerId): () => void {
    const packet = cluster.pull(this.cluster, from, to)
    if (!packet) return expect.fail(`${from} has nothing to say to ${to}`)
    return () => {
      this.#tell(to, `hears #${packet.seq}`)
      cluster.land(this.cluster, packet)
      cluster.verdict(this.cluster, packet, true)
    }
  }

  /** All messages from one to another come, and nothing else. */
  carry(from: PeerId, to: PeerId): void {
    cluster.carry(this.cluster, from, to)
  }

  settle(): void {
    cluster.settle(this.cluster)
  }

  pass(ms: number): void {
    cluster.pass(this.cluster, ms)
  }

  /** How all see an object. */
  looks(key: number): void {
    const { cluster: all } = this
    for (const inc of all.states.keys()) {
      this.#tell(inc, `has ${objects.idOf(key)}: ${cluster.look(all, inc, key)}`)
    }
  }

  #tell(inc: PeerId, what: string): void {
    this.script.tell(this.cluster.now, `${inc}`, what)
  }
}

/** The names of an object and of its version in short. */
function short(value: Value): Value {
  if (Array.isArray(value)) return value.map(short)
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return value
  const { creator, count, epoch, grants, ...more } = value
  const said: Read = {}
  if (more['kind'] !== undefined) said['kind'] = more['kind']
  if (creator !== undefined) said['id'] = `${creator as number}.${count as number}`
  if (grants !== undefined) said['v'] = `${epoch as number}.${grants as number}`
  else if (epoch !== undefined) said['epoch'] = epoch
  for (const [name, field] of Object.entries(more)) said[name] = short(field)
  return said
}
