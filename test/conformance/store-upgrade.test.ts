// Goal: a file that a hub of 0.2 left is brought up to date as a whole or not at all, and no room,
// no session and no segment of it is lost.
// Method: files of layout version 1, with a log as a killed hub leaves it: the records of 0.2 in
// test/data/rooms-0.2.json, and records of every form that there was.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { createNodeLoop } from '../../packages/holdfast/src/drivers/net/loop-node.ts'
import { openSqliteStore } from '../../packages/holdfast/src/drivers/store/sqlite.ts'
import { acks, type Entry } from '../../packages/holdfast/src/hub-protocol/messages.ts'
import type { Store } from '../../packages/holdfast/src/ports.ts'
import {
  blob,
  encode,
  flag,
  type Layout,
  record,
  type ValueOf,
  varint,
  word,
} from '../../packages/holdfast/src/wire/layout.ts'
import { readPlace } from '../../packages/hub/src/machine/places.ts'
import {
  readRecord,
  storedBefore,
  storedWithTerms,
  writeRecord,
} from '../../packages/hub/src/machine/records.ts'
import { upgradeRecords } from '../../packages/hub/src/machine/upgrade.ts'
import { storedRooms } from '../../packages/hub/src/rooms.ts'
import { HubServer } from '../../packages/hub/src/server/hub-server.ts'
import { toyCurves } from '../../packages/sim/src/toy-ciphers.ts'
import { Caller } from '../hub/caller.ts'
import { listed, OPEN } from '../hub/desk.ts'
import type { StoredBy02 } from '../stored/room-of-02.ts'
import { blobsOf } from './store.ts'
import { until } from './until.ts'

const DRIVER = new URL(
  '../../packages/holdfast/dist/holdfast/src/drivers/store/sqlite.js',
  import.meta.url,
)

const folder = mkdtempSync(join(tmpdir(), 'holdfast-upgrade-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
let files = 0

type Records = readonly (readonly [key: string, value: Uint8Array])[]

/** Runs a script with `Database`, `file` and `rows`, and kills it. @returns what it told */
function killed(script: string, file: string, rows: Records = []): string {
  const head = `const Database = require('libsql'); const [, file] = process.argv
    const given = JSON.parse(require('node:fs').readFileSync(0, 'utf8'))
    const rows = given.map(([key, value]) => [key, Buffer.from(value, 'base64')])
    const die = () => process.kill(process.pid, 'SIGKILL')\n`
  const given = rows.map(([key, value]) => [key, Buffer.from(value).toString('base64')])
  const child = spawnSync(process.execPath, ['-e', head + script, file], {
    encoding: 'utf8',
    input: JSON.stringify(given),
    maxBuffer: Infinity,
  })
  expect([child.signal, child.stderr]).toEqual(['SIGKILL', ''])
  return child.stdout
}

/** A file of 0.2, whose hub was killed. */
function fileOf(rows: Records): string {
  const file = join(folder, `${++files}.db`)
  const script = `const database = new Database(file)
    database.exec('PRAGMA journal_mode = WAL; PRAGMA application_id = ${0x484f4c44}')
    const columns = 'key TEXT PRIMARY KEY, value BLOB NOT NULL'
    database.exec('CREATE TABLE records (' + columns + ') WITHOUT ROWID, STRICT')
    const put = database.prepare('INSERT INTO records (key, value) VALUES (?, ?)')
    for (const row of rows) put.run(...row)
    database.exec('PRAGMA user_version = 1')
    die()`
  killed(script, file, rows)
  expect(existsSync(`${file}-wal`)).toBe(true)
  return file
}

/** The version of a file that nobody has open, its tables, and a digest of all its records. */
function contentOf(file: string): string {
  return killed(
    `const database = new Database(file)
    const rowsOf = (query) => JSON.stringify(database.prepare(query).raw().all())
    const records = rowsOf('SELECT key, hex(value) FROM records ORDER BY key')
    const digest = require('node:crypto').createHash('sha256').update(records).digest('hex')
    const parts = [rowsOf('PRAGMA user_version'), rowsOf('SELECT name FROM sqlite_schema'), digest]
    require('node:fs').writeSync(1, parts.join())
    die()`,
    file,
  )
}

const open = (file: string): Store => openSqliteStore(file, { upgrade: upgradeRecords })

const SEED = Uint8Array.from({ length: 32 }, (_, at) => at * 7)

function entryOf(session: string, room: string, more: Partial<Entry> = {}): Entry {
  return {
    ...{ session, room, game: 'g', register: { epoch: 3, primary: 2, backup: 1 } },
    ...{ players: 2, playersMax: 4, standing: 'open', topology: 'star', terms: 'keep=10' },
    ...more,
  }
}

/** A session's record, in the form of 0.2. */
function sessionOf(value: Entry): Uint8Array {
  const entrants = [{ id: 't', key: new Uint8Array(32).fill(8), rights: 5 }]
  const invitations = [{ digest: new Uint8Array(16).fill(9), uses: 2, rights: 1 }]
  const rest = { members: [listed(2)], recovers: true, hosts: true, entrants, invitations }
  return writeRecord({ entry: value, ...rest })
}

const MEMBER = { inc: 2, player: 1, hash: new Uint8Array(16).fill(5) }

/** The same before link keys, and before terms. */
function olderOf(value: Entry): Uint8Array {
  const rest = { members: [MEMBER], recovers: true }
  return encode(storedWithTerms, { form: 'terms', entry: value, ...rest })
}
function oldestOf(value: Entry): Uint8Array {
  return encode(storedBefore, { entry: value, members: [MEMBER], recovers: true })
}

const numbers = { by: 2, index: 15, time: 604_664, at: 6_649, next: 4 }
const sizes = { segments: 2, bytes: 7, until: 31_536_009_586 }

function archivedWith<Acks>(layout: Layout<Acks>) {
  return record({
    form: word(['kept', 'imported']),
    ...{ by: varint, index: varint, time: varint, at: varint, next: varint },
    acks: layout,
    ...{ segments: varint, bytes: varint, until: varint, session: blob(1024 * 1024) },
  })
}
const archived = archivedWith(acks)
/** In 0.1: whether the primary was alone. */
const archivedBefore = archivedWith(flag)

/** A stored room's record. */
function roomOf(session: Uint8Array, more: Partial<ValueOf<typeof archived>> = {}): Uint8Array {
  return encode(archived, { form: 'kept', ...numbers, acks: 'relayed', ...sizes, session, ...more })
}

const segmentsOf = (session: string): Records => [
  [`~${session} 0`, Uint8Array.of(0, 1, 2, 3)],
  [`~${session} 1`, Uint8Array.of(4, 5, 6)],
]

/** All that a hub up to 0.2 wrote. */
function everyForm(): Records {
  const [both, ended] = [entryOf('1a-1', 'both'), entryOf('1b-2', 'ended')]
  const alone = { form: 'kept', ...numbers, acks: true, ...sizes } as const
  return [
    ['the hub', SEED],
    ['odd', Uint8Array.of(1, 2, 3)],
    ['1a-1', sessionOf({ ...both, register: { epoch: 4, primary: 2, backup: 3 } })],
    ['kept 1a-1', roomOf(sessionOf(both))],
    ...segmentsOf('1a-1'),
    ['kept 1b-2', roomOf(olderOf(ended), { form: 'imported' })],
    ...segmentsOf('1b-2'),
    [
      'kept 1b-3',
      encode(archivedBefore, { ...alone, session: oldestOf(entryOf('1b-3', 'first')) }),
    ],
    ['2c-4', sessionOf(entryOf('2c-4', 'now'))],
    ['2d-5', olderOf(entryOf('2d-5', 'older'))],
    ['zz-6', oldestOf(entryOf('zz-6', 'oldest'))],
  ]
}

async function contentsOf(store: Store): Promise<unknown> {
  const names = ['1a-1', '1b-2', 'lgf9m7-1'].flatMap((session) => [`${session} 0`, `${session} 1`])
  return [[...store.entries()], await blobsOf(store, '', ...names)]
}

describe('a file of 0.2', () => {
  test('has one record a place, its segments under their names, and the rest as it was (N-2)', async () => {
    const rows = everyForm()
    const old = new Map(rows)
    const store = open(fileOf(rows))
    const entries = [...store.entries()]
    const places = ['ended', 'first', 'both', 'now', 'older', 'oldest'].map((room) => `1 g ${room}`)
    const found = new Map(entries)
    expect([...found.keys()].toSorted()).toEqual([...places, 'odd', 'the hub'].toSorted())
    expect(found.get('the hub')!.value).toEqual(SEED)
    expect(found.get('odd')!.value).toEqual(Uint8Array.of(1, 2, 3))
    const revs = entries.map(([, { rev }]) => rev)
    expect([new Set(revs).size, Math.min(...revs) > 0]).toEqual([8, true])

    const mark = { boot: 0, write: 0 }
    const room = { ...numbers, ...sizes, acks: 'relayed', imported: false }
    const place = (name: string): unknown => readPlace(found.get(`1 g ${name}`)!.value)
    const session = (key: string): unknown => readRecord(old.get(key)!)
    // Of a session that lasts its own record is newer than that of its room.
    expect(place('both')).toEqual({ ...mark, lasts: true, session: session('1a-1'), stored: room })
    expect(place('ended')).toEqual({
      ...{ ...mark, lasts: false, session: readRecord(olderOf(entryOf('1b-2', 'ended'))) },
      stored: { ...room, imported: true },
    })
    expect(place('first')).toEqual({
      ...{ ...mark, lasts: false, session: readRecord(oldestOf(entryOf('1b-3', 'first'))) },
      stored: { ...room, acks: 'strict' },
    })
    for (const [name, key] of [
      ['now', '2c-4'],
      ['older', '2d-5'],
      ['oldest', 'zz-6'],
    ] as const) {
      expect(place(name)).toEqual({ ...mark, lasts: true, session: session(key), stored: null })
      expect(session(key)).not.toBe(null)
    }
    const blobs = rows.filter(([key]) => key.startsWith('~'))
    const names = blobs.map(([key]) => key.slice(1))
    expect(await blobsOf(store, '', ...names)).toEqual(blobs.map(([, value]) => value))
    store.close()
  })

  test('is upgraded once: another opening changes nothing (N-2)', async () => {
    const file = fileOf(everyForm())
    const first = open(file)
    const content = await contentsOf(first)
    first.close()
    const upgrade = (): never => expect.fail('it is upgraded again')
    const second = openSqliteStore(file, { upgrade })
    expect(await contentsOf(second)).toEqual(content)
    second.close()
  })

  test('keeps its records where nobody says how to upgrade them', () => {
    const rows = everyForm()
    const store = openSqliteStore(fileOf(rows))
    const found = [...store.entries()].map(([key, { value }]) => [key, value] as const)
    const expected = rows.filter(([key]) => !key.startsWith('~'))
    expect(new Map(found)).toEqual(new Map(expected))
    store.close()
  })

  test('is as it was if its upgrade throws, and free (N-2)', () => {
    const file = fileOf(everyForm())
    const before = contentOf(file)
    const upgrade = (): never => {
      throw new Error('a bug')
    }
    const again = (): Store => openSqliteStore(file, { upgrade })
    for (let i = 0; i < 2; i++) expect(again).toThrow(`${file} cannot be used: a bug`)
    expect(contentOf(file)).toBe(before)
    const store = open(file)
    expect([...store.entries()]).toHaveLength(8)
    store.close()
  })

  test.each(['before its tables are changed', 'with half of its records written'])(
    'is as it was if the process is killed %s (N-2)',
    async (when) => {
      if (!existsSync(DRIVER))
        throw new Error('run `npx tsc -b packages` first: child processes need dist/')
      // So much that SQLite writes it into the log before the end.
      const size = 512 * 1024
      const large = Array.from({ length: 8 }, (_, at): [string, Uint8Array] => {
        return [`~1b-2 ${at + 2}`, new Uint8Array(size).fill(at)]
      })
      const rows = [...everyForm(), ...large]
      const file = fileOf(rows)
      const before = contentOf(file)
      const half = `records.entries = function* () {
          for (let at = 0; at < 4; at++) yield [at, this[at]]
          die()
        }`
      const script = `import('${DRIVER.href}').then((m) => m.openSqliteStore(file, {
        upgrade: (records) => {
          ${when.startsWith('before') ? 'die()' : half}
          return records
        },
      }))`
      killed(script, file)
      expect(contentOf(file)).toBe(before)
      const store = open(file)
      expect([...store.entries()]).toHaveLength(8)
      expect(await blobsOf(store, '', '1b-2 9')).toEqual([new Uint8Array(size).fill(7)])
      store.close()
    },
  )
})

describe('of two sessions in one room', () => {
  const unreachable = { standing: 'unreachable' } as const
  /** The records of a session, by its id. */
  type Side = (id: string) => Records
  const session =
    (more: Partial<Entry>): Side =>
    (id) => [[id, sessionOf(entryOf(id, 'r', more))]]
  const ended: Side = (id) => [[`kept ${id}`, roomOf(sessionOf(entryOf(id, 'r', { players: 1 })))]]
  const stored: Side = (id) => [...session({ players: 1, ...unreachable })(id), ...ended(id)]

  test.each<[why: string, right: Side, wrong: Side, has: object]>([
    [
      'that with more players remains (N-2)',
      session({ players: 3 }),
      session({ players: 2 }),
      { lasts: true, stored: null },
    ],
    [
      'that whose primary answered remains, however few play (N-2)',
      session({ players: 1 }),
      session({ players: 4, ...unreachable }),
      { lasts: true, stored: null },
    ],
    [
      'the stored one remains, and lasts (N-2)',
      stored,
      session({ players: 4 }),
      { lasts: true, stored: { index: 15 } },
    ],
    [
      'the stored one remains that has ended (N-2)',
      ended,
      session({ players: 4 }),
      { lasts: false, stored: { index: 15 } },
    ],
  ])('%s', (_why, right, wrong, has) => {
    // The order of their ids does not count.
    for (const [id, other] of [
      ['1a-1', '1b-2'],
      ['1b-2', '1a-1'],
      ['zz-1', '1b-2'],
      ['1b-2', 'zz-1'],
    ] as const) {
      const rows = [...right(id), ...wrong(other)].toSorted(([a], [b]) => (a < b ? -1 : 1))
      const [[key, value] = ['', new Uint8Array()], ...more] = upgradeRecords(rows)
      expect([key, more]).toEqual(['1 g r', []])
      expect(readPlace(value)).toMatchObject({ session: { entry: { session: id } }, ...has })
    }
  })
})

const rooms = JSON.parse(
  readFileSync(new URL('../data/rooms-0.2.json', import.meta.url), 'utf8'),
) as Readonly<Record<string, StoredBy02>>

describe.each(Object.entries(rooms))(
  'a hub on the file of 0.2 with the room %s',
  (room, { disk }) => {
    test('lists it, opens it with all of its segments, and has it when it starts again (N-2)', async () => {
      const rows = disk.map(
        ([key, value]) => [key, new Uint8Array(Buffer.from(value, 'base64'))] as const,
      )
      const bytes = rows.filter(([key]) => key.startsWith('~')).flatMap(([, value]) => [...value])
      const place = { game: 'garden', room, session: 'lgf9m7-1' }
      const file = fileOf(rows)
      const start = (): { store: Store; server: HubServer } => {
        const store = open(file)
        // Not long after that hub was killed, by its own clock.
        const server = new HubServer(createNodeLoop(), store, {
          wall: () => 10_000,
          curves: toyCurves,
        })
        expect(storedRooms(server)).toMatchObject([{ ...place, bytes: bytes.length }])
        return { store, server }
      }
      const { store, server } = start()
      const caller = new Caller(server)
      const { hash, link } = listed(1)
      const wish = {
        game: 'garden',
        room,
        playersMax: 16,
        recovers: true,
        topology: 'star',
      } as const
      caller.say({ kind: 'add', request: 1, ...wish, terms: 'keep=9', hash, link, ...OPEN })
      await until(() => caller.heard.some(({ kind }) => kind === 'segment'))
      const added = caller.heard.find(({ kind }) => kind === 'added')
      expect(added).toMatchObject({
        entry: { ...place, register: { epoch: 4 } },
        opened: { segments: 2 },
      })
      expect(caller.heard.flatMap((one) => (one.kind === 'segment' ? [...one.bytes] : []))).toEqual(
        bytes,
      )
      await server.close()
      store.close()

      const again = start()
      expect(again.server.health()).toMatchObject({ ok: true, sessions: 1 })
      await again.server.close()
      again.store.close()
    })
  },
)
