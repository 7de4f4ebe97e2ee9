// Goal: a session begins for who may serve it, if there is room, and once.
// Method: the register by itself.
import { expect, test } from 'vitest'
import * as register from './register.ts'

const bytes = (length: number): Uint8Array => new Uint8Array(length).fill(1)
const OUT = { send: () => {}, record: () => {}, emit: () => {} }
const WISH: register.Wish = {
  ...{ game: 'g', room: 'r', playersMax: 3, recovers: false, topology: 'star', terms: '' },
  ...{ hash: bytes(16), link: bytes(32), key: bytes(32) },
}

test('who may not serve opens no session, and finds one that is there (PR-2)', () => {
  const directory = register.create(0)
  const guest = { ...WISH, playersMax: 0 }
  expect(register.add(directory, 0, guest, 's', OUT)).toBe(null)
  expect(directory.rows.size).toBe(0)
  expect(register.add(directory, 0, WISH, 's', OUT)).toMatchObject({ created: true })
  expect(register.add(directory, 0, guest, 't', OUT)).toMatchObject({ created: false })
  expect([...directory.rows.keys()]).toEqual(['s'])
})
