// Goal: a LAN and a session are one maze: rats are in both, and a shot in one is told in the other.
// Method: the shipped bridge between shipped classic machines in virtual time and the shipped fold
// of the session, which knows its acts at once.
import { expect, test } from 'vitest'
import { Bridge, type LanBank, type SessionBank } from '../../games/mazewar/bridge.ts'
import * as classic from '../../games/mazewar/classic/peer.ts'
import type { Act } from '../../games/mazewar/rules/acts.ts'
import { type Deed, step } from '../../games/mazewar/rules/step.ts'
import { EMPTY, type Rat, ratAt, ratOf, type World } from '../../games/mazewar/rules/world.ts'
import * as lan from './lan.ts'

const [ADA, BRIDGE, GUEST] = [1, 9, 480]
const RIGHT = 3
const LEFT = 2

/** A session in which only Ada and the bridge are. */
class Room implements SessionBank {
  readonly me = BRIDGE
  readonly live = true
  state: World = EMPTY
  readonly labels = new Map<number, string>()
  #deeds: Deed[] = []

  get slot(): number {
    return this.state.slot + 1
  }

  get ahead(): World {
    return this.#step()
  }

  actFor(rat: number, act: Act): boolean {
    this.#deeds.push({ by: BRIDGE, act: { rat, ...act } })
    return true
  }

  nameOf(rat: number): string {
    return rat === ADA ? 'Ada' : (this.labels.get(rat) ?? '?')
  }

  label(rat: number, name: string): void {
    this.labels.set(rat, name)
  }

  ada(act: Act): void {
    this.#deeds.push({ by: ADA, act: { rat: ADA, ...act } })
  }

  end(): void {
    this.state = this.#step()
    this.#deeds = []
  }

  #step(): World {
    return step(this.state, this.#deeds, { slot: this.slot, left: [], random: () => 0.7 })
  }
}

/** A player of the virtual LAN, as a bridge has it. */
function bankOf(net: lan.Lan, player: lan.Player): LanBank {
  const { peer, out } = player
  return {
    get me() {
      return peer.id
    },
    get slot() {
      return peer.slot
    },
    get live() {
      return peer.self !== null
    },
    get state() {
      return classic.world(peer)
    },
    get ahead() {
      return classic.ahead(peer)
    },
    act: (act) => act.kind !== 'born' && act.kind !== 'leave' && lan.act(net, player, act),
    put: ({ at, facing, score }) => classic.put(peer, net.now, { cell: at, facing, score }, out),
    strike: (owner) => classic.strike(peer, net.now, owner, out),
    close: () => void (player.gone = true),
    nameOf: (rat) => peer.others.get(rat)?.name ?? '',
  }
}

class Both {
  readonly net = lan.createLan('bridge', 'rtt=4')
  readonly room = new Room()
  readonly guest = lan.join(this.net, 'guest', { id: 77, name: 'Remy\u001b[2J' })
  readonly puppets: lan.Player[] = []
  readonly #bridge = new Bridge(this.room, (name) => {
    const player = lan.join(this.net, `puppet${this.puppets.length}`, { puppet: true, name })
    this.puppets.push(player)
    return Promise.resolve(bankOf(this.net, player))
  })

  async run(slots: number): Promise<void> {
    for (let i = 0; i < slots * 5; i++) {
      lan.run(this.net, 40)
      this.#bridge.look()
      // What was opened is there at the next look.
      await Promise.resolve()
      if (i % 5 === 4) this.room.end()
    }
  }

  /** The rat of the LAN, as those see it who are there. */
  get onLan(): Rat {
    return ratOf(classic.world(this.guest.peer), 77)!
  }

  /** The puppet of Ada, as the rat of the LAN sees it. */
  get puppet(): Rat {
    return ratOf(classic.world(this.guest.peer), this.puppets[0]!.peer.id)!
  }

  get ada(): Rat {
    return ratOf(this.room.state, ADA)!
  }
}

async function meet(at: number): Promise<Both> {
  const both = new Both()
  both.room.ada({ kind: 'born', at, facing: RIGHT })
  await both.run(25)
  return both
}

test('each is in the other maze, at the same place, and follows', async () => {
  const both = await meet(2)
  expect(both.room.state.rats.map(({ id }) => id)).toEqual([ADA, GUEST])
  expect(ratOf(both.room.state, GUEST)).toMatchObject({ at: both.onLan.at, owner: BRIDGE })
  expect(both.puppet).toMatchObject({ at: 2, facing: RIGHT })
  both.room.ada({ kind: 'step', speed: 1 })
  await both.run(1)
  both.room.ada({ kind: 'turn', facing: LEFT })
  both.room.ada({ kind: 'cloak', on: true })
  await both.run(6)
  expect(both.puppet).toMatchObject({ at: 3, facing: LEFT, cloaked: true })
})

test('a rat of the LAN hits one of the session: it counts once, in both mazes', async () => {
  const both = await meet(5)
  const { guest, net } = both
  // The rat of the LAN goes to the other end of Ada's corridor.
  classic.put(guest.peer, net.now, { cell: 2, facing: RIGHT, score: 0 }, guest.out)
  await both.run(20)
  expect(ratOf(both.room.state, GUEST)).toMatchObject({ at: 2, facing: RIGHT })
  lan.act(net, guest, { kind: 'fire' })
  await both.run(25)
  expect(both.ada.score).toBe(-5)
  expect(ratOf(both.room.state, GUEST)!.score).toBe(10)
  expect(both.onLan.score).toBe(10)
  expect(both.puppet).toMatchObject({ score: -5, at: both.ada.at })
  expect(ratAt(classic.world(guest.peer), 5)).toBeUndefined()
})

test('one of the session hits a rat of the LAN, which says so itself', async () => {
  const both = await meet(2)
  const { guest, net } = both
  classic.put(guest.peer, net.now, { cell: 5, facing: LEFT, score: 0 }, guest.out)
  await both.run(20)
  both.room.ada({ kind: 'fire' })
  await both.run(30)
  expect(both.onLan.score).toBe(-5)
  expect(both.puppet.score).toBe(10)
  expect(both.ada.score).toBe(10)
  expect(ratOf(both.room.state, GUEST)).toMatchObject({ score: -5, at: both.onLan.at })
})

test('who leaves one maze is gone from the other', async () => {
  const both = await meet(2)
  both.room.ada({ kind: 'leave' })
  await both.run(30)
  expect(classic.world(both.guest.peer).rats.map(({ id }) => id)).toEqual([77])
  both.room.ada({ kind: 'born', at: 2, facing: RIGHT })
  await both.run(25)
  both.guest.gone = true
  await both.run(30)
  expect(both.room.state.rats.map(({ id }) => id)).toEqual([ADA])
})

test('names cross: a puppet has that of its model, a rat of the LAN its own in the room (SL-8)', async () => {
  const both = new Both()
  both.room.ada({ kind: 'born', at: 2, facing: RIGHT })
  await both.run(40)
  const puppet = both.puppets[0]!.peer.id
  expect(both.guest.peer.others.get(puppet)!.name).toBe('Ada')
  // Without what a terminal would obey.
  expect(both.room.labels.get(GUEST)).toBe('Remy[2J')
})
