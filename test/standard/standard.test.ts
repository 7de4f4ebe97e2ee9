// Goal: docs/STANDARD.md states every byte, neither more nor less than what Holdfast does.
// Method: a reader that knows only the document reads a captured session and all examples, and
// is compared with the implementation on values drawn at random and at every limit.
import { readdirSync, readFileSync } from 'node:fs'
import { beforeAll, describe, expect, test } from 'vitest'
import * as actions from '../../packages/holdfast/src/actions/protocol/actions.ts'
import * as timers from '../../packages/holdfast/src/actions/protocol/timers.ts'
import * as keeping from '../../packages/holdfast/src/actions/protocol/reserved-rows.ts'
import { TYPE_NAME_MAX } from '../../packages/holdfast/src/api/options.ts'
import { procedure } from '../../packages/holdfast/src/calls/calls.ts'
import { action } from '../../packages/holdfast/src/actions/actions.ts'
import { object } from '../../packages/holdfast/src/objects/objects.ts'
import { OBJECT_TYPES_MAX } from '../../packages/holdfast/src/objects/types.ts'
import { sortDefinitions } from '../../packages/holdfast/src/kind/definitions.ts'
import * as beacon from '../../packages/hub/src/server/beacon.ts'
import * as sessionExpiry from '../../packages/hub/src/machine/session-expiry.ts'
import * as attachment from '../../packages/hub/src/machine/attachment.ts'
import * as challenge from '../../packages/hub/src/machine/challenge.ts'
import * as listing from '../../packages/hub/src/machine/listing.ts'
import * as prng from '../../packages/holdfast/src/faults/prng.ts'
import {
  ASSEMBLIES_MAX,
  FRAGMENT_BYTES_MAX,
  FRAGMENTS_MAX,
} from '../../packages/holdfast/src/link/packets/assembly.ts'
import * as relayQueue from '../../packages/hub/src/machine/relay-queue.ts'
import { NOISE } from '../../packages/holdfast/src/drivers/net/server/server-stream.ts'
import * as streams from '../../packages/holdfast/src/drivers/net/server/websocket-server.ts'
import * as storeLimits from '../../packages/holdfast/src/drivers/store/limits.ts'
import {
  createFrames,
  nextFrame,
  open,
  PARTS_MAX,
} from '../../packages/holdfast/src/link/packets/frames.ts'
import * as link from '../../packages/holdfast/src/link/limits.ts'
import * as mail from '../../packages/mailbox/src/machine/messages.ts'
import { LIVES_MAX } from '../../packages/holdfast/src/wire/history.ts'
import { createHeader, readHeader } from '../../packages/holdfast/src/link/packets/packet.ts'
import { AHEAD_MAX_MS } from '../../packages/holdfast/src/objects/protocol/accept.ts'
import { BATCH_BYTES, VERSION_MAX } from '../../packages/holdfast/src/objects/protocol/messages.ts'
import * as objects from '../../packages/holdfast/src/objects/protocol/objects.ts'
import { ENDED_MS, GRACE_MS } from '../../packages/holdfast/src/objects/protocol/unowned.ts'
import {
  ASK_MS,
  HOLD_MS,
  GRANT_MS,
  REQUEST_MS,
} from '../../packages/holdfast/src/objects/protocol/requests.ts'
import { TOMBSTONE_MS } from '../../packages/holdfast/src/objects/protocol/objects.ts'
import { TOTAL_MIN } from '../../packages/holdfast/src/objects/protocol/views.ts'
import * as stamp from '../../packages/holdfast/src/objects/protocol/messages.ts'
import * as pieceChanges from '../../packages/holdfast/src/pieces/protocol/changes.ts'
import * as levels from '../../packages/holdfast/src/pieces/protocol/levels.ts'
import * as pieceMessages from '../../packages/holdfast/src/pieces/protocol/messages.ts'
import * as pieces from '../../packages/holdfast/src/pieces/protocol/pieces.ts'
import * as ports from '../../packages/holdfast/src/ports.ts'
import * as custom from '../../packages/holdfast/src/custom/protocol/custom.ts'
import * as rpc from '../../packages/holdfast/src/calls/protocol/messages.ts'
import * as hubMessages from '../../packages/holdfast/src/hub-protocol/messages.ts'
import * as records from '../../packages/hub/src/machine/records.ts'
import * as rooms from '../../packages/holdfast/src/hub-protocol/messages.ts'
import * as tickets from '../../packages/holdfast/src/hub-protocol/tickets.ts'
import { SESSIONS_MAX } from '../../packages/hub/src/machine/register.ts'
import { EPOCH_MAX } from '../../packages/holdfast/src/hub-protocol/messages.ts'
import * as machine from '../../packages/holdfast/src/machine.ts'
import * as replication from '../../packages/holdfast/src/replication/layouts.ts'
import { SIGNAL_MAX } from '../../packages/holdfast/src/member/channels.ts'
import * as iceUrl from '../../packages/holdfast/src/wire/text/ice-url.ts'
import * as signals from '../../packages/holdfast/src/drivers/net/webrtc/signals.ts'
import * as seal from '../../packages/holdfast/src/seal/limits.ts'
import { BEACON_MAX } from '../../packages/holdfast/src/wire/beacon.ts'
import * as sealMessages from '../../packages/holdfast/src/seal/messages.ts'
import * as places from '../../packages/hub/src/machine/places.ts'
import * as saved from '../../packages/holdfast/src/hub-protocol/saved-room.ts'
import * as hubPersistence from '../../packages/hub/src/machine/persistence.ts'
import * as roomKey from '../../packages/holdfast/src/member/room-key.ts'
import * as segments from '../../packages/holdfast/src/session/segments.ts'
import * as session from '../../packages/holdfast/src/session/messages.ts'
import * as slotsMessages from '../../packages/holdfast/src/slots/protocol/messages.ts'
import * as slots from '../../packages/holdfast/src/slots/protocol/slots.ts'
import { TYPES_MAX } from '../../packages/holdfast/src/wire/fields/difference.ts'
import { fingerprint } from '../../packages/holdfast/src/wire/digest.ts'
import { decode, type Layout } from '../../packages/holdfast/src/wire/layout.ts'
import * as schema from '../../packages/holdfast/src/wire/fields/schema.ts'
import { captureSession, Dot, SCHEMA, TYPES } from './capture.ts'
import { limit, readStandard, type Standard } from './document.ts'
import { atLimit, drawn, sitesOf, spoil } from './draw.ts'
import { entryOf, type Ledger, type Met, proves, readCapture, type Sent } from './ledger.ts'
import { inWords, readWhole } from './reader.ts'
import { type Read, tell, type Value } from './values.ts'

const FOLDER = new URL('./', import.meta.url)
const text = readFileSync(new URL('../../docs/STANDARD.md', import.meta.url), 'utf8')
const standard = readStandard(text)

/** What the code has for the names of the document. */
const LAYOUTS: Record<string, Layout<unknown>> = {
  Peer: session.peerLayout,
  Delta: replication.deltaLayout,
  Snapshot: replication.snapshotLayout,
  Wish: session.moderationLayout,
  Conduct: session.moderationOutcome,
  Testimony: session.testimonyLayout,
  Join: session.joinLayout,
  Joined: session.joinedLayout,
  ToHub: hubMessages.toHub,
  FromHub: hubMessages.fromHub,
  Stored: places.placeLayout,
  StoredRoom: places.roomLayout,
  StoredSession: records.stored,
  Whole: segments.snapshotSegmentLayout,
  OldWhole: segments.oldSnapshotSegmentLayout,
  Entries: segments.entriesSegmentLayout,
  Sealed: roomKey.sealedLayout,
  SegmentName: roomKey.segmentNameLayout,
  RoomProof: roomKey.roomProofLayout,
  Saved: saved.savedLayout,
  Rpc: rpc.rpcLayout,
  Slots: slotsMessages.slotsLayout,
  Custom: custom.customMessage,
  CustomAnswer: custom.customAnswer,
  CustomSnapshot: custom.customSnapshot,
  Mail: mail.mailLayout,
  MailGreeting: mail.handshakeLayout,
  MailProof: mail.proofLayout,
  MailKeys: mail.keyLetterLayout,
  MailKeysText: mail.keyTextLayout,
  SealFirst: sealMessages.firstLayout,
  SealSecond: sealMessages.secondLayout,
  SealWord: sealMessages.wordLayout,
  Signal: signals.signalLayout,
}

const LIMITS: Record<string, number> = {
  ...{ ENTRANTS_MAX: tickets.ENTRANTS_MAX, TICKET_ID_MAX: tickets.TICKET_ID_MAX },
  ...pick(rooms),
  INVITATIONS_MAX: records.INVITATIONS_MAX,
  ...pick(machine),
  ...pick(replication),
  ...pick(session),
  ...pick(hubMessages),
  ...pick(hubPersistence),
  ...pick(segments),
  ...pick(saved),
  ...pick(ports),
  HALF_MS: streams.LIMITS.halfMs,
  HALF_BYTES_MAX: streams.LIMITS.halfBytesMax,
  UNREAD_MS: streams.LIMITS.unreadMs,
  UNREAD_BYTES_MAX: streams.LIMITS.unreadBytesMax,
  NOISE_MAX: NOISE.max,
  NOISE_PER_SECOND: NOISE.perSecond,
  ...pick(link),
  ...pick(listing),
  ...pick(attachment),
  ...pick(challenge),
  ...pick(sessionExpiry),
  ...pick(beacon),
  BEACON_MAX,
  ...pick(relayQueue),
  ...pick(objects),
  ...pick(stamp),
  ...pick(actions),
  ...pick(timers),
  ...pick(keeping),
  ...pick(rpc),
  ...pick(custom),
  ...pick(slots),
  ...pick(slotsMessages),
  ...pick(schema),
  ...pick(pieces),
  ...pick(pieceMessages),
  ...pick(pieceChanges),
  ...pick(levels),
  ...pick(mail),
  ...pick(seal),
  ...pick(signals),
  ...pick(iceUrl),
  SIGNAL_MAX,
  LIVES_MAX,
  PIECE_SEQ_MAX: pieces.SEQ_MODULUS - 1,
  GENERATION_MAX: pieces.GENERATIONS - 1,
  TYPES_MAX,
  AHEAD_MAX_MS,
  BATCH_BYTES,
  TOTAL_MIN,
  ENDED_MS,
  GRACE_MS,
  GRANT_MS,
  ASK_MS,
  HOLD_MS,
  REQUEST_MS,
  VERSION_MAX,
  TOMBSTONE_MS,
  ASSEMBLIES_MAX,
  FRAGMENT_BYTES_MAX,
  FRAGMENTS_MAX,
  PARTS_MAX,
  OBJECT_TYPES_MAX,
  EPOCH_MAX,
  SESSIONS_MAX,
  REORDER_MAX: link.LIMITS.reorder,
  STORE_KEY_MAX: storeLimits.KEY_MAX,
  STORE_RECORD_MAX: storeLimits.RECORD_MAX,
  STORE_BLOB_MAX: storeLimits.BLOB_MAX,
}

/** Said by layouts without a name of their own, and held by the tests of layouts below. */
const UNNAMED = ['LAYOUT_VERSION', 'DELAY_MAX', 'DELTA_MAX']
UNNAMED.push('PART_STATE_MAX', 'ACTION_NAME_MAX', 'NEWS_BYTES_MAX')

function pick(from: object): Record<string, number> {
  const numbers = Object.entries(from).filter(([, value]) => typeof value === 'number')
  return Object.fromEntries(numbers) as Record<string, number>
}

function byCode(what: string, bytes: Uint8Array): string | null {
  const value = decode(LAYOUTS[what]!, bytes)
  return value === null ? null : tell(value as Value)
}

describe('the document', () => {
  test('is read by code that knows nothing of the implementation', () => {
    const own = readdirSync(FOLDER).filter((name) => !/capture|test/.test(name))
    expect(own).toContain('reader.ts')
    for (const name of own) {
      const imports = readFileSync(new URL(name, FOLDER), 'utf8').match(/from '[^']+'/g) ?? []
      for (const line of imports) expect(line).toMatch(/'(\.\/|node:)/)
    }
  })
  test.each(standard.examples)('example $line', ({ what, bytes, reads }) => {
    expect(inWords(standard, what, bytes)).toBe(reads)
    if (LAYOUTS[what]) expect(byCode(what, bytes)).toBe(reads)
  })
  test('the states in it are the code’s', () => {
    const dot = { pos: [50, 25.5] as const, hue: 200 }
    const [example] = standard.examples.filter(({ what }) => what === `state ${SCHEMA}`)
    expect(schema.encodeState(Dot.schema, dot)).toEqual(example!.bytes)
    expect(Dot.schema.text).toBe(SCHEMA)
    const mix = { on: schema.bool, turn: schema.angle(6), say: schema.text(4) }
    const made = schema.schema(mix)
    const [other] = standard.examples.filter(({ what }) => what === `state ${made.text}`)
    const state = { on: true, turn: Math.PI, say: 'hi' }
    expect(schema.encodeState(made, state)).toEqual(other!.bytes)
    const prints = standard.examples.filter(({ what }) => what === 'fingerprint')
    const { angle, bool, ranged, text, u8 } = schema
    const place = { at: ranged(0, 10, 1), go: ranged(-5, 5, 1) }
    const fields = { ...place, turn: angle(8), spin: ranged(-4, 4, 0.1) }
    const follow = { at: 'go', turn: 'spin' } as const
    const bump = action('bump', () => 0)
    const pot = object('pot', fields, { motion: { follow } })
    const deal = action('deal', { count: u8, to: text(20) }, () => true, { answer: bool })
    const rolls = procedure('roll', { sides: u8 })
    const games = [[Dot, bump], [pot], [procedure('roll'), bump], [deal, rolls]]
    expect(
      games.map(
        (types) => `x${fingerprint(sortDefinitions(types).text).toString(16).padStart(8, '0')}`,
      ),
    ).toEqual(prints.map(({ reads }) => reads))
  })
  test('every limit and version in it is the code’s', () => {
    const unknown = [...standard.limits.keys()].filter((name) => LIMITS[name] === undefined)
    expect(unknown.sort()).toEqual([...UNNAMED].sort())
    for (const [name, value] of standard.limits) {
      if (!UNNAMED.includes(name)) expect([name, value]).toEqual([name, LIMITS[name]])
    }
    expect(TYPE_NAME_MAX).toBeLessThanOrEqual(limit(standard, 'ACTION_NAME_MAX'))
  })
  test('T62, T63: no two kinds of one set share a tag or a name', () => {
    for (const [name, set] of standard.sets) {
      const kinds = [...set.values()].map(({ kind }) => kind)
      expect([name, new Set(kinds).size]).toEqual([name, set.size])
    }
    expect(() => readStandard(text.replace('| resync | 10 |', '| resync | 9 |'))).toThrow('twice')
  })
})

describe.each(Object.keys(LAYOUTS))('%s', (name) => {
  const type = { kind: 'named', name } as const
  const variants = [...(standard.sets.get(name) ?? [[0, null] as const])].map(([tag, entry]) => {
    const sets = new Map(standard.sets)
    if (entry) sets.set(name, new Map([[tag, entry]]))
    return { tag, standard: { ...standard, sets } as Standard }
  })

  test('values drawn from the document, whole or spoilt, are read alike by the code', () => {
    const random = prng.create(`standard ${name}`)
    const chance = (most: number): number => prng.below(random, most)
    let malformed = 0
    for (const variant of variants) {
      for (let round = 0; round < 40; round++) {
        const bytes = Uint8Array.from(drawn(variant.standard, type, chance))
        expect(inWords(standard, name, bytes)).not.toBeNull()
        expect(byCode(name, bytes)).toBe(inWords(standard, name, bytes))
        const spoilt = spoil(bytes, chance)
        const read = inWords(standard, name, spoilt)
        if (read === null) malformed++
        expect(byCode(name, spoilt)).toBe(read)
      }
    }
    expect(malformed).toBeGreaterThan(0)
  })
  test('each limit is taken, and one more is malformed, to document and code', () => {
    for (const variant of variants) {
      for (const site of sitesOf(variant.standard, type)) {
        if (site.max > 2 ** 21) continue
        for (const beyond of [0, 1]) {
          const bytes = Uint8Array.from(atLimit(variant.standard, type, site, beyond))
          const taken = [inWords(standard, name, bytes), byCode(name, bytes)].map(
            (read) => read !== null,
          )
          expect([variant.tag, site, taken]).toEqual([
            variant.tag,
            site,
            [beyond === 0, beyond === 0],
          ])
        }
      }
    }
  })
})

/** Whether the code takes a packet, but for what it knows of others. */
function packetByCode(bytes: Uint8Array): boolean {
  const header = createHeader()
  const start = bytes.length > link.PACKET_MAX ? -1 : readHeader(bytes, 0, header)
  if (start < 0) return false
  const frames = createFrames()
  // Far from the first piece, so that none has a number below 1.
  open(frames, bytes, start, 1_000_000)
  while (nextFrame(frames)) continue
  return !frames.failed
}

describe('a captured session', () => {
  let sent: Sent[]
  let ledger: Ledger

  beforeAll(async () => {
    sent = await captureSession()
    ledger = readCapture(standard, sent, TYPES)
  }, 60_000)

  const met = (what: string): Met[] => ledger.met.get(what) ?? []

  test('is read to the last byte, and every kind of message was in it', () => {
    // Pieces have a session of their own (pieces.test.ts), mailboxes none (mailbox.test.ts), and
    // parts by others are in no session that is ours (test/sessions/part.test.ts), and nothing is
    // sealed yet (seal.test.ts). Nobody here takes WebRTC, and the hub has
    // no servers for it. Nobody is put out or invited
    // (conduct.test.ts), and the room is not kept (kept.test.ts).
    const sets = [...standard.sets].filter(([set]) => !/^(Piece|Mail|Custom|Seal|Signal)/.test(set))
    const kinds = sets.flatMap(([set, messages]) =>
      [...messages.values()].map(({ kind }) => `${set} ${kind}`),
    )
    const frames = ['PAD', 'REL', 'UNREL', 'CLOCK', 'CLOSE', 'ACKDELAY'].map(
      (one) => `frame ${one}`,
    )
    const names = ['Join', 'Call', 'Answer', 'Row', 'Snapshot', 'Testimony', 'Stored']
    const records = names.map((one) => `record ${one}`)
    const others = ['stream relay', 'datagram packet', 'update', 'entry that stands']
    others.push('entry that is gone', 'update with ages 1', 'update with ages 3')
    others.push('slots frame', 'slot event')
    others.push(
      'request to take',
      'request to give',
      'request to yes',
      'refuse denied',
      'refuse gone',
    )
    const conduct = /^(Wish |Delta (expel|pardon|vote)|ToHub invite|FromHub invited)/
    const kept = /^(ToHub keep|FromHub kept|FromHub segment|Delta loose|Peer persisted)$/
    const servers = /^(ToHub|FromHub) ice$/
    const missing = [...kinds, ...frames, ...records, ...others].filter(
      (one) =>
        !ledger.counts.has(one) &&
        ![conduct, kept, servers].some((elsewhere) => elsewhere.test(one)),
    )
    // Who recovers the session here has seen most itself: nobody's copy is asked for. All have the
    // same rule of slots. There are too few objects to tell how many. The store always answers.
    expect(missing).toEqual([
      ...['Peer testimony', 'Objects total', 'Slots differs', 'FromHub store', 'record Testimony'],
    ])
    expect(sent.length).toBeGreaterThan(5_000)
  })
  test('T21: the sessions come one a message, and a last message ends them', () => {
    const [last] = met('FromHub last')
    const entries = met('FromHub entry').filter(
      ({ value }) => value['request'] === last!.value['request'],
    )
    expect(entries).toHaveLength(1)
    expect((entries[0]!.value['entry'] as Read)['game']).toBe('dots')
  })
  test('T25: every request that the hub took has one answer', () => {
    const asked = ['list', 'get', 'add', 'change', 'attach'].flatMap((kind) => met(`ToHub ${kind}`))
    const kinds = ['last', 'added', 'register', 'attached', 'alive', 'refused']
    const answers = kinds.flatMap((kind) => met(`FromHub ${kind}`))
    const key = ({ node, value }: Met): string => `${node} ${tell(value['request']!)}`
    const answered = new Set(answers.map(key))
    const alone = asked.filter((one) => one.value['request'] !== 0 && !answered.has(key(one)))
    // Those that died or were cut off with a question under way.
    expect(alone.map(({ node }) => node).filter((node) => !['ada', 'dee'].includes(node))).toEqual(
      [],
    )
  })
  test('what is told of a member is what it said of itself, and its proofs fit its hashes', () => {
    const members = met('Peer view').flatMap(
      ({ value }) => (value['view'] as Read)['members'] as Read[],
    )
    const byInc = new Map(members.map((member) => [member['inc'], member]))
    expect(byInc.size).toBeGreaterThanOrEqual(5)
    let checked = 0
    for (const { value } of [...met('ToHub change'), ...met('ToHub attach')]) {
      const member = byInc.get(value['inc']!)
      if (!member) continue
      expect(proves(value['proof']!, member['registerHash']!)).toBe(true)
      checked++
    }
    expect(checked).toBeGreaterThan(3)
    const joins = met('record Join').map(({ value }) => value['name'])
    const all = ['bea', 'cy', 'dee', 'eve', 'fay', 'gil', 'hal', 'ian']
    expect(new Set(joins)).toEqual(new Set(all))
  })
  test('who came back has the key of before, its old player and a new inc', () => {
    const [again] = met('record Join').filter(({ value }) => value['resume'] !== null)
    const { player } = again!.value['resume'] as { player: number }
    const before = met('Delta add').find(({ value }) => (value['member'] as Read)['inc'] === player)
    expect(again!.value['key']).toEqual((before!.value['member'] as Read)['key'])
    const joined = met('Joined joined').filter(({ value }) => value['player'] === player)
    const incs = new Set(joined.map(({ value }) => value['inc']))
    expect(incs.size).toBeGreaterThan(1)
  })
  test('epochs rise one by one, and each is on disk before a member tells of it', () => {
    const written = new Map<number, number>()
    for (const { value, at } of met('record Stored')) {
      const { epoch } = entryOf(value)['register'] as { epoch: number }
      if (!written.has(epoch)) written.set(epoch, at)
    }
    expect([...written.keys()]).toEqual([1, 2, 3, 4, 5, 6, 7])
    for (const { value, at } of met('Peer view')) {
      const { epoch } = value['view'] as { epoch: number }
      expect(written.get(epoch)).toBeLessThan(at)
    }
  })
  test('an action’s entry of the log has its number, its answer and its changes', () => {
    const [entry] = met('Delta operation').filter(({ value }) => value['player'] === 2)
    expect(entry!.value['seq']).toBe(1)
    const answer = readWhole(standard, 'Answer', entry!.value['outcome'] as Uint8Array)
    expect(tell(answer)).toBe('ok=true text="9"')
    expect(entry!.value['changes']).toHaveLength(9)
    const refused = met('record Answer').filter(({ value }) => value['ok'] === false)
    expect(refused[0]!.value['text']).toBe('too many at once')
  })

  test('packets, spoilt, are taken by the code as by the document', () => {
    const random = prng.create('standard packets')
    const chance = (most: number): number => prng.below(random, most)
    const packets = sent.flatMap(({ way, bytes }) =>
      way === 'datagram' && bytes.subarray(0, 4).some((byte) => byte > 0) ? [bytes.slice(4)] : [],
    )
    let malformed = 0
    for (let round = 0; round < 2_000; round++) {
      const packet = spoil(prng.pick(random, packets), chance)
      const taken = inWords(standard, 'packet', packet) !== null
      if (!taken) malformed++
      const code = packetByCode(packet)
      if (code !== taken) expect([packet, code]).toEqual([packet, taken])
    }
    expect(malformed).toBeGreaterThan(300)
  })

  test('a byte that deviates is reported, with its place', () => {
    const plant = (at: number, change: (bytes: Uint8Array) => void): Sent[] =>
      sent.map((one, index) => {
        if (index !== at) return one
        const bytes = one.bytes.slice()
        change(bytes)
        return { ...one, bytes }
      })
    const find = (holds: (bytes: Uint8Array) => boolean): number =>
      sent.findIndex(({ way, bytes }) => way === 'datagram' && holds(bytes))
    const packet = find((bytes) => bytes[0] === 17)
    const first = find((bytes) => bytes[0] === 1)
    const attach = sent.findIndex(({ way, bytes }) => way === 'up' && bytes[1] === 6)
    const planted: [at: number, change: (bytes: Uint8Array) => void, why: string][] = [
      [packet, (bytes) => void (bytes[6]! |= 0x40), 'a reserved bit'],
      [first, (bytes) => void (bytes[1] = 9), 'version'],
      [attach, (bytes) => void (bytes[3] = 33), '33 bytes where 32 are allowed'],
    ]
    for (const [at, change, why] of planted) {
      expect(at).toBeGreaterThanOrEqual(0)
      expect(() => readCapture(standard, plant(at, change), TYPES)).toThrow(why)
      expect(() => readCapture(standard, plant(at, change), TYPES)).toThrow(` ${at} of `)
    }
  })
  test.each([
    ['| INC_MAX | 1,048,576 |', '| INC_MAX | 2 |', 'is not from 1 to 1'],
    ['| hide | 3 |', '| hide | 33 |', 'Objects has no tag 3'],
    ['| operation | 7 | `seq:varint part:u8', '| operation | 7 | `part:u8 seq:u16', 'too many'],
    ['| done | 8 |', '| done | 48 |', 'Peer has no tag 8'],
    ['| attached | 6 | `request:varint', '| attached | 6 | `request:flag', 'a flag of 2'],
    ['| DATAGRAM_MAX | 1,232 |', '| DATAGRAM_MAX | 1,100 |', 'a datagram too long'],
    ['| Row | `key:text(KEY_MAX)', '| Row | `key:text(4)', 'where 4 are allowed'],
    ['room:text(NAME_MAX) register', 'room:blob(2) register', 'where 2 are allowed'],
  ])('a document that says something else is found out: %s', (said, other, why) => {
    expect(text).toContain(said)
    const changed = text.replace(said, other)
    expect(() => readCapture(readStandard(changed), sent, TYPES)).toThrow(why)
  })
})
