// Goal: in a mesh all members have links to one another, and these change nothing of who serves.
// Method: whole sessions in virtual time; paths are cut one by one.
import type { InternalSession as Session } from '../../packages/holdfast/src/join/session-impl.ts'
import { describe, expect, test } from 'vitest'
import { HoldfastError } from '../../packages/holdfast/src/index.ts'
import { isByRelay } from '../../packages/holdfast/src/paths/paths.ts'
import { type SessionWorld, world } from '../../packages/sim/src/session-world.ts'
import { readRecord, writeRecord } from '../../packages/hub/src/machine/records.ts'
import * as register from '../../packages/hub/src/machine/register.ts'
import { admits } from '../../packages/holdfast/src/session/membership.ts'

const NAMES = ['Ada', 'Grace', 'Linus', 'Edsger']

async function four(
  seed: number,
  topology: 'star' | 'mesh',
  browsers: readonly string[] = [],
): Promise<{ w: SessionWorld; all: Session[] }> {
  const w = world({ seed, conditions: 'rtt=20' })
  const all: Session[] = []
  for (const name of NAMES) {
    const kind = browsers.includes(name) ? 'browser' : 'node'
    // Only the first opens the session: what the others would have had it says nothing.
    const wished = all.length === 0 ? topology : 'star'
    all.push(await w.join({ game: 'duel', name, topology: wished }, { name, kind }))
  }
  await w.runUntil(() => all.every((session) => session.safety === 'backed-up'), 10_000)
  await w.run(2_000)
  return { w, all }
}

/** Whom it has open links to, and which of them go through the hub. */
function linksOf(session: Session): { open: number[]; relayed: number[] } {
  const open = [...session.member!.peers.values()].filter(({ link }) => link !== null)
  const incs = (of: typeof open): number[] => of.map(({ inc }) => inc).sort((a, b) => a - b)
  return { open: incs(open), relayed: incs(open.filter((peer) => isByRelay(peer.paths))) }
}

const heardAt = (session: Session, inc: number): number =>
  session.member!.peers.get(inc)!.link!.lastReceived

describe('who has links', () => {
  test('in a mesh each member has a direct link to each other', async () => {
    const { all } = await four(1, 'mesh')
    expect(all.map((session) => linksOf(session))).toEqual([
      { open: [2, 3, 4], relayed: [] },
      { open: [1, 3, 4], relayed: [] },
      { open: [1, 2, 4], relayed: [] },
      { open: [1, 2, 3], relayed: [] },
    ])
  })

  test('B9: in a star members that do not serve never talk to each other, but for the standby', async () => {
    const { all } = await four(2, 'star')
    expect(all.map((session) => linksOf(session).open)).toEqual([
      [2, 3, 4],
      [1, 3, 4],
      [1, 2],
      [1, 2],
    ])
  })

  test('a browser in a mesh has its links through the hub', async () => {
    const { all } = await four(3, 'mesh', ['Linus', 'Edsger'])
    expect(linksOf(all[2]!)).toEqual({ open: [1, 2, 4], relayed: [1, 2, 4] })
    expect(linksOf(all[0]!)).toEqual({ open: [2, 3, 4], relayed: [3, 4] })
  })

  test('the topology is that of who opened the session, for those too who come back', async () => {
    const { w, all } = await four(4, 'mesh')
    const mend = w.partition([['Linus']])
    await w.run(15_000)
    mend()
    const whole = (): boolean => all.every((session) => linksOf(session).open.length === 3)
    expect(await w.runUntil(whole, 20_000)).toBe(true)
    expect(all[2]!.me).toMatchObject({ player: 3, inc: 5 })
    expect(all.map((session) => session.member!.session.topology)).toEqual(NAMES.map(() => 'mesh'))
  })

  test('the register keeps it over a restart of the hub', () => {
    const directory = register.create(0)
    const out = { send: () => {}, record: () => {} }
    const hash = new Uint8Array(16)
    const link = new Uint8Array(32)
    const wish = {
      game: 'g',
      room: 'r',
      playersMax: 2,
      recovers: true,
      topology: 'mesh',
      terms: '',
      hash,
      link,
      key: link,
    } as const
    register.add(directory, 0, wish, 's', out)
    const bytes = writeRecord(register.recordOf(directory, 's')!)
    const again = register.create(0)
    register.restore(again, 0, readRecord(bytes)!)
    expect(register.find(again, 's')!.entry.topology).toBe('mesh')
    // Behind it stand no terms, one member of 83 bytes, two flags and nobody with a ticket; one
    // that we do not know is none.
    const place = bytes.length - 1 - 1 - 2 - 83 - 1 - 1
    expect(bytes[place]).toBe(1)
    const spoilt = bytes.map((byte, i) => (i === place ? 2 : byte))
    expect(readRecord(spoilt)).toBe(null)
  })

  test('another topology is refused by name', async () => {
    const joining = world({ seed: 5 }).join({ game: 'duel', topology: 'ring' as 'mesh' })
    await expect(joining).rejects.toThrow(HoldfastError)
    await expect(joining).rejects.toThrow('topology is one of star, mesh: "ring"')
  })
})

describe('a link between two that do not serve', () => {
  test('B57: when the direct path dies the relay takes over, and back', async () => {
    const { w, all } = await four(6, 'mesh')
    const [, , linus, edsger] = all
    const cuts = [w.deafen('Linus', 'Edsger'), w.deafen('Edsger', 'Linus')]
    const bothRelay = (): boolean => {
      return linksOf(linus!).relayed.includes(4) && linksOf(edsger!).relayed.includes(3)
    }
    expect(await w.runUntil(bothRelay, 3_000)).toBe(true)
    // And there they stay: a link that is tried by turns would be deaf half of the time.
    for (let i = 0; i < 20; i++) {
      const before = [heardAt(linus!, 4), heardAt(edsger!, 3)]
      await w.run(500)
      expect(bothRelay()).toBe(true)
      expect(heardAt(linus!, 4)).toBeGreaterThan(before[0]!)
      expect(heardAt(edsger!, 3)).toBeGreaterThan(before[1]!)
    }
    for (const mend of cuts) mend()
    await w.run(5_000)
    expect([linus, edsger].map((session) => linksOf(session!).relayed)).toEqual([[], []])
    expect(linksOf(linus!).open).toEqual([1, 2, 4])
  })

  test('B57: when only one of the two is deaf, both hear each other by the relay', async () => {
    const { w, all } = await four(7, 'mesh')
    const [, , linus, edsger] = all
    w.deafen('Linus', 'Edsger')
    await w.run(5_000)
    for (let i = 0; i < 10; i++) {
      const before = [heardAt(linus!, 4), heardAt(edsger!, 3)]
      await w.run(2_500)
      expect(heardAt(linus!, 4)).toBeGreaterThan(before[0]!)
      expect(heardAt(edsger!, 3)).toBeGreaterThan(before[1]!)
    }
  })

  test('B57: its silence, its death and its end change no role and remove nobody', async () => {
    const { w, all } = await four(8, 'mesh')
    const [ada, grace, linus, edsger] = all
    w.deafen('Linus', 'Edsger')
    w.deafen('Edsger', 'Linus')
    w.deafen('Linus', 'hub')
    w.deafen('hub', 'Linus')
    await w.run(12_000)
    // Between these two there is no way at all, and each is in touch with the server.
    expect(linksOf(linus!).open).toEqual([1, 2])
    expect(linksOf(edsger!).open).toEqual([1, 2])
    expect(all.map((session) => session.members.length)).toEqual([4, 4, 4, 4])
    expect(all.map((session) => session.debug.figures().epoch)).toEqual([2, 2, 2, 2])
    expect([ada, grace].map((session) => session!.debug.figures().role)).toEqual([
      'backedup',
      'backup',
    ])
  })

  test('B57: that one of them died is for the server to say', async () => {
    const { w, all } = await four(9, 'mesh')
    const [ada, , linus, edsger] = all
    w.deafen('Ada', 'Edsger')
    w.deafen('Edsger', 'Ada')
    w.kill(edsger!)
    await w.run(1_000)
    // The system tells Linus that nobody listens there; to the server it is merely silent.
    expect(linus!.members.map(({ name }) => name)).toContain('Edsger')
    expect(await w.runUntil(() => ada!.members.length === 3, 12_000)).toBe(true)
    await w.run(100)
    expect(linus!.members.map(({ name }) => name)).not.toContain('Edsger')
    expect(linksOf(linus!).open).toEqual([1, 2])
  })

  test('the gate: who is of a newer view waits, who is of none is denied', async () => {
    const { w, all } = await four(10, 'mesh')
    const [, , linus, edsger] = all
    const own = linus!.member!.session
    const key = edsger!.member!.linkKey.point!
    const { mv } = own.client.view
    expect(admits(own, 4, key, mv)).toBe('yes')
    expect(admits(own, 4, new Uint8Array(32), mv)).toBe('no')
    expect(admits(own, 9, key, mv + 1)).toBe('wait')
    expect(admits(own, 9, key, mv)).toBe('no')
    // A link that was removed with its member is asked for in vain, and nobody goes for it.
    const denied = linus!.member!.counters.denied
    for (const name of ['Ada', 'hub']) {
      w.deafen('Edsger', name)
      w.deafen(name, 'Edsger')
    }
    expect(await w.runUntil(() => linus!.members.length === 3, 15_000)).toBe(true)
    expect(await w.runUntil(() => linus!.member!.counters.denied > denied, 15_000)).toBe(true)
    expect(linksOf(linus!).open).toEqual([1, 2])
  })
})
