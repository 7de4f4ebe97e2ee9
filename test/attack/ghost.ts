/**
 * Somebody with keys of its own who asks the primary of a room to let it in, by all rules, and goes
 * no further than it likes: what it has been given by then is kept for it.
 */

import { randomBytes } from 'node:crypto'
import type { FromHub } from '../../packages/holdfast/src/hub-protocol/messages.ts'
import { nodeCurves } from '../../packages/holdfast/src/drivers/crypto/node-crypto.ts'
import { nodeCiphers } from '../node-ciphers.ts'
import { BASE_POINT } from '../../packages/holdfast/src/ports.ts'
import * as seals from '../../packages/holdfast/src/seal/seal.ts'
import type { Seal, SealSink } from '../../packages/holdfast/src/seal/state.ts'
import {
  claimOf,
  joinLayout,
  SESSION_VERSION,
} from '../../packages/holdfast/src/session/messages.ts'
import { encode } from '../../packages/holdfast/src/wire/layout.ts'

/** It never reads an answer; or has a link, and is refused; or becomes a member that is nowhere. */
export type Goes = 'asks' | 'stands' | 'enters'

/** Where the primary is, for it; and how datagrams get there. */
export interface Way {
  address: string
  send(datagram: Uint8Array): void
}

const draw = (): Uint8Array => new Uint8Array(randomBytes(32))

/** See above. */
export class Ghost {
  readonly #goes: Goes
  readonly #seed = draw()
  readonly #secret = draw()
  /** Its player's key, and the key of its links. */
  readonly key: Uint8Array = nodeCurves.signer(this.#seed)
  readonly link: Uint8Array = nodeCurves.agree(this.#secret, BASE_POINT)!
  #seal: Seal | null = null
  #way: Way | null = null
  #jobs: [job: number, pairs: readonly (readonly [Uint8Array, Uint8Array])[]][] = []

  constructor(goes: Goes) {
    this.#goes = goes
  }

  /** The hub lets it ask. @param schema  of the game */
  ask(added: FromHub & { kind: 'added' }, schema: number, way: Way): void {
    const { leader, entry, admission } = added
    if (!leader) return
    const { session, register } = entry
    const wish = {
      ...{ version: SESSION_VERSION, schema: this.#goes === 'stands' ? schema ^ 1 : schema },
      ...({ name: 'Ghost', kind: 'node', watches: false, resume: null } as const),
      addresses: [],
      ...{ link: this.link, key: this.key, registerHash: new Uint8Array(16) },
      ...{ rights: admission.rights, admission: admission.signature },
    }
    const signature = nodeCurves.sign(this.#seed, claimOf(session, wish))
    const join = encode(joinLayout, { ...wish, signature })
    const keys = { secret: this.#secret, point: this.link, seed: draw() }
    const out = this.#sink()
    this.#seal = seals.create(performance.now(), { out, ciphers: nodeCiphers, session, ...keys })
    this.#way = way
    const peer = seals.nameOf(leader.link)
    const asked = { peer, to: register.primary, addresses: [way.address], join }
    this.#do((seal) => seals.ask(seal, performance.now(), asked))
  }

  /** Something came from the primary, to it or to another. */
  hear(bytes: Uint8Array): void {
    if (this.#goes === 'asks') return
    this.#do((seal) => seals.receive(seal, performance.now(), this.#way!.address, bytes))
  }

  #sink(): SealSink {
    return {
      datagram: (_to, bytes) => this.#way!.send(bytes),
      agree: (job, pairs) => void this.#jobs.push([job, pairs]),
      admit: () => 'notMember',
      event: () => {},
    }
  }

  #do(verb: (seal: Seal) => void): void {
    const seal = this.#seal
    if (!seal) return
    verb(seal)
    for (let next = this.#jobs.shift(); next; next = this.#jobs.shift()) {
      const shared = next[1].map(([secret, point]) => nodeCurves.agree(secret, point))
      seals.agreed(seal, performance.now(), next[0], shared)
    }
  }
}
