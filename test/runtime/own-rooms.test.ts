// Goal: sheets that hosts keep themselves are written one write at a time, the hub hears of one
// only behind it, and the store does not grow beyond its bound.
// Method: a store by hand that takes writes when the test says so.
import { describe, expect, test } from 'vitest'
import { HoldfastError } from '../../packages/holdfast/src/machine.ts'
import type { OwnStore, Store } from '../../packages/holdfast/src/ports.ts'
import { OwnRooms, SESSIONS_MAX } from '../../packages/holdfast/src/runtime/own-rooms.ts'

type Done = Parameters<Store['write']>[1]

/** Records by key; writes wait. */
class Hand implements Store {
  readonly records = new Map<string, Uint8Array>()
  readonly writes: (() => void)[] = []
  refuses: string | null = null
  throws = false

  entries(): Iterable<readonly [string, Uint8Array]> {
    return this.records
  }

  read(key: string): Uint8Array | null {
    if (this.throws) throw new HoldfastError('store', 'a bad sector')
    return this.records.get(key) ?? null
  }

  write(changes: Parameters<Store['write']>[0], done: Done): void {
    if (this.throws) throw new HoldfastError('store', 'a bad sector')
    this.writes.push(() => {
      if (this.refuses !== null) return done(new HoldfastError('store', this.refuses))
      for (const [key, value] of changes) {
        if (value) this.records.set(key, value)
        else this.records.delete(key)
      }
      done(null)
    })
  }

  close(): void {}

  /** All that waits is written. */
  flush(): void {
    while (this.writes.length > 0) this.writes.shift()!()
  }

  sheets(): string[] {
    return [...this.records.keys()].filter((key) => key.startsWith('sheet '))
  }
}

const byte = (value: number): Uint8Array => Uint8Array.of(value)
const nothing = (): void => {}

describe('a store of rooms', () => {
  test('takes one write at a time, in order', () => {
    const store = new Hand()
    const rooms = new OwnRooms(store)
    const done: string[] = []
    for (const name of ['a', 'b']) rooms.put('s', name, byte(1), () => done.push(name))
    rooms.keepOnly('s', ['b'])
    let idle = false
    rooms.whenIdle(() => (idle = true))
    expect([store.writes.length, done, idle]).toEqual([1, [], false])
    store.flush()
    expect([store.sheets(), done, idle]).toEqual([['sheet s b'], ['a', 'b'], true])
    rooms.whenIdle(() => done.push('at once'))
    expect(done.at(-1)).toBe('at once')
  })

  test('that is opened again has what was written, and drops what is not named', () => {
    const store = new Hand()
    const first = new OwnRooms(store)
    first.put('s', 'a', byte(1), nothing)
    first.put('s', 'b', byte(2), nothing)
    first.put('other', 'a', byte(3), nothing)
    store.flush()
    const again = new OwnRooms(store)
    expect([again.read('s', 'b'), again.read('s', 'c')]).toEqual([byte(2), null])
    again.keepOnly('s', ['b'])
    store.flush()
    expect(store.sheets()).toEqual(['sheet s b', 'sheet other a'])
  })

  test('drops the session that was kept longest ago where there are too many, and none that runs', () => {
    const store = new Hand()
    const rooms = new OwnRooms(store)
    for (let at = 0; at < SESSIONS_MAX; at++) rooms.put(`s${at}`, 'a', byte(1), nothing)
    store.flush()
    const again = new OwnRooms(store)
    again.put('s0', 'b', byte(1), nothing)
    again.put('new', 'a', byte(1), nothing)
    store.flush()
    const left = (): string[] => store.sheets().filter((key) => /^sheet s[0-2] /.test(key))
    expect(left()).toEqual(['sheet s0 a', 'sheet s2 a', 'sheet s0 b'])
    expect(store.records.size).toBe(2 * SESSIONS_MAX + 1)
    // It counts from when somebody was there last.
    again.release('s0')
    again.put('s0', 'c', byte(1), nothing)
    again.release('s0')
    for (let at = 0; at < 3; at++) again.put(`new${at}`, 'a', byte(1), nothing)
    store.flush()
    expect(left()).toEqual(['sheet s0 a', 'sheet s0 b', 'sheet s0 c'])
  })

  test('that cannot be read or written says so to who asked, and goes on', () => {
    const store = new Hand()
    const rooms = new OwnRooms(store)
    const told: (string | null)[] = []
    const tell = (error: HoldfastError | null): void => void told.push(error?.message ?? null)
    store.throws = true
    expect(rooms.read('s', 'a')).toBe(null)
    rooms.put('s', 'a', byte(1), tell)
    store.throws = false
    store.refuses = 'no room'
    rooms.put('s', 'b', byte(1), tell)
    store.flush()
    store.refuses = null
    rooms.put('s', 'c', byte(1), tell)
    store.flush()
    expect(told).toEqual(['a bad sector', 'no room', null])
    // It counts among the sessions that are kept.
    expect([...store.records.keys()].toSorted()).toEqual(['kept s', 'sheet s c'])
  })
})

describe('what the hub hears', () => {
  function begun(): { store: Hand; sheets: OwnStore; heard: string[] } {
    const store = new Hand()
    const heard: string[] = []
    const sheets = new OwnRooms(store).open({
      send: (message) => heard.push(`message ${message[0]}`),
      untaken: (why) => heard.push(why),
    })
    return { store, sheets, heard }
  }

  test('of a sheet it hears behind it, and of what is said later after that', () => {
    const { store, sheets, heard } = begun()
    sheets.behind(byte(1), 'sheet')
    sheets.put('s', 'a', byte(9))
    sheets.behind(byte(2), 'sheet')
    sheets.behind(byte(3), 'other')
    expect(heard).toEqual(['message 1'])
    store.flush()
    expect(heard).toEqual(['message 1', 'message 2', 'message 3'])
  })

  test('a host that comes into another session lets the one before be dropped', () => {
    const store = new Hand()
    const rooms = new OwnRooms(store)
    const host = rooms.open({ send: nothing, untaken: nothing })
    for (const session of ['first', 'second']) host.put(session, 'a', byte(1))
    for (let at = 1; at < SESSIONS_MAX; at++) rooms.put(`s${at}`, 'a', byte(1), nothing)
    store.flush()
    expect(store.records.has('sheet first a')).toBe(false)
    expect(store.records.has('sheet second a')).toBe(true)
  })

  test('of a sheet that was not taken nothing, but what else there is', () => {
    const { store, sheets, heard } = begun()
    store.refuses = 'no room'
    sheets.put('s', 'a', byte(9))
    sheets.behind(byte(2), 'sheet')
    sheets.behind(byte(3), 'other')
    store.flush()
    expect(heard).toEqual(['message 3', 'no room'])
  })
})
