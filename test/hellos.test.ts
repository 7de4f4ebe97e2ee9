// Goal: a later build that still speaks what this one does is let in everywhere, and one that does
// not learns which versions are spoken; nobody on the way takes a version from what was offered.
// Method: the hello of each protocol by hand, as a build says it that speaks one version more.
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { HUB_VERSION } from '../packages/holdfast/src/hub-protocol/messages.ts'
import {
  readSaved,
  SAVED_VERSION,
  writeSaved,
} from '../packages/holdfast/src/hub-protocol/saved-room.ts'
import { handshakeLayout, MAIL_VERSION } from '../packages/mailbox/src/machine/messages.ts'
import { SEAL_VERSION } from '../packages/holdfast/src/seal/limits.ts'
import { proven } from '../packages/holdfast/src/seal/proofs.ts'
import { MAC_BYTES } from '../packages/holdfast/src/seal/limits.ts'
import { keyFor } from '../packages/holdfast/src/seal/state.ts'
import { otherVersion } from '../packages/holdfast/src/session/membership.ts'
import { SESSION_VERSION } from '../packages/holdfast/src/session/messages.ts'
import {
  read,
  SEGMENT_VERSIONS,
  versionsOf,
  writeSnapshotSegment,
} from '../packages/holdfast/src/session/segments.ts'
import * as durable from '../packages/holdfast/src/replication/durable.ts'
import { decode, encode } from '../packages/holdfast/src/wire/layout.ts'
import { encodeVersions } from '../packages/holdfast/src/wire/versions.ts'
import { Desk } from './hub/desk.ts'
import { exchange, ownKey, Side } from './mailbox/handshakes.ts'
import * as net from './seal/net.ts'

/** Of a build that speaks this version and the next. */
const later = (version: number): number => encodeVersions({ lowest: version, highest: version + 1 })
/** Of one that speaks two later ones alone. */
const tooLate = (version: number): number =>
  encodeVersions({ lowest: version + 1, highest: version + 2 })

test('the page on versions has those of this build (N-2)', () => {
  const page = readFileSync('docs/versions.md', 'utf8')
  const rows = [...page.matchAll(/^\| (\w[^|]*) \| (\d+) \|$/gm)]
  expect(rows.map(([, between, version]) => [between, Number(version)])).toEqual([
    ['member and hub', HUB_VERSION],
    ['members of a room', SESSION_VERSION],
    ['links of members', SEAL_VERSION],
    ['mailboxes', MAIL_VERSION],
  ])
})

describe('a later build', () => {
  test('says hello to the hub, or hears what that speaks (N-2)', () => {
    const desk = new Desk()
    const heard = desk.say(desk.dial(), { kind: 'hello', version: later(HUB_VERSION) })
    expect(heard).toMatchObject([{ kind: 'welcome', version: HUB_VERSION }, { kind: 'signs' }])
    const stream = desk.dial()
    desk.say(stream, { kind: 'hello', version: tooLate(HUB_VERSION) })
    const spoken = `versions ${HUB_VERSION + 1} to ${HUB_VERSION + 2}`
    const why = `speaks ${spoken}, this hub version ${HUB_VERSION}`
    expect(desk.closings.get(stream)).toEqual({ kind: 'refused', why })
  })

  test('joins a session, or hears both ranges (N-2)', () => {
    const spoken = `versions ${SESSION_VERSION + 1} to ${SESSION_VERSION + 2}`
    const room = `the room speaks version ${SESSION_VERSION}, this build`
    expect(otherVersion(tooLate(SESSION_VERSION))).toMatchObject({
      code: 'version',
      why: `${room} ${spoken}: its members have to reload first`,
    })
    expect(otherVersion(SESSION_VERSION - 1)).toMatchObject({
      why: `${room} version ${SESSION_VERSION - 1}: reload the page, or update this program`,
    })
  })

  test('makes a link, and nobody takes a version from what it offers (N-2)', () => {
    for (const altered of [false, true]) {
      const world = net.createNet()
      const [ada, bea] = [net.addEnd(world, 'ada', 1), net.addEnd(world, 'bea', 2)]
      ada.seal.offer = later(SEAL_VERSION)
      net.ask(world, ada, bea)
      const first = world.flying.shift()!
      const bytes = first.bytes.slice()
      expect(bytes[1]).toBe(later(SEAL_VERSION))
      if (altered) bytes[1] = SEAL_VERSION
      // Whoever knows the key makes the proof in front of it anew.
      const open = bytes.subarray(0, bytes.length - 2 * MAC_BYTES)
      const whole = proven(ada.seal, keyFor(ada.seal, 'proof', bea.seal.point), open)
      const cookie = bytes.subarray(bytes.length - MAC_BYTES)
      net.arrive(world, { ...first, bytes: Uint8Array.from([...whole, ...cookie]) })
      net.settle(world)
      expect(bea.seal.counters.forged).toBe(altered ? 1 : 0)
      expect([net.linkOf(ada, bea), net.linkOf(bea, ada)].map((one) => one !== 0)).toEqual(
        altered ? [false, false] : [true, true],
      )
    }
  })

  test('greets a mailbox, and nobody takes a version from what it offers (N-2)', () => {
    for (const altered of [false, true]) {
      const alice = new Side({ id: 'alice', keys: [ownKey(1)] }, 'bob')
      const bob = new Side({ id: 'bob', keys: [ownKey(2)] }, null)
      alice.handshake.offer = later(MAIL_VERSION)
      const open = decode(handshakeLayout, alice.said[0]!)!
      const version = altered ? MAIL_VERSION : later(MAIL_VERSION)
      alice.said[0] = encode(handshakeLayout, { ...open, version } as typeof open)
      exchange(alice, bob)
      expect([alice.known?.id, bob.known?.id]).toEqual(
        altered ? [undefined, undefined] : ['bob', 'alice'],
      )
    }
  })

  test('writes what this one reads, segments and files, if it says so (N-2)', () => {
    const settings = { terms: '', topology: 'star', playersMax: 4 } as const
    const snapshot = durable.snapshot(durable.create(), [])
    const own = { settings, lineage: [], segments: 1, schema: 1, types: '', index: 0, snapshot }
    const bytes = writeSnapshotSegment(own)
    const at = bytes.indexOf(SEGMENT_VERSIONS.highest, 9)
    expect([at, versionsOf(bytes)]).toEqual([9, SEGMENT_VERSIONS.highest])
    bytes[at] = later(SEGMENT_VERSIONS.highest)
    expect(read([{ bytes, index: 0 }])).toMatchObject({ length: 0 })
    bytes[at] = tooLate(SEGMENT_VERSIONS.highest)
    expect(read([{ bytes, index: 0 }])).toBe(null)

    const room = { game: 'g', room: 'r', session: 's', ...settings, recovers: true, hosts: false }
    const rest = { epoch: 1, next: 2, time: 0, index: 0, entrants: [], segments: [] }
    const file = writeSaved({ ...room, ...rest })
    file[13] = later(SAVED_VERSION)
    expect(readSaved(file)).toMatchObject(room)
    file[13] = tooLate(SAVED_VERSION)
    const why = `is of versions ${SAVED_VERSION + 1} to ${SAVED_VERSION + 2}`
    expect(readSaved(file)).toEqual({
      why: `${why}, and this build reads version ${SAVED_VERSION}`,
    })
  })
})
