import { expect, test } from 'vitest'
import { readAddress } from './address.ts'

test.each([
  ['http://127.0.0.1:8700', 'http://127.0.0.1:8700', 'main'],
  ['127.0.0.1:8700', 'http://127.0.0.1:8700', 'main'],
  ['https://h.example/rt/?room=b', 'https://h.example/rt/', 'b'],
  ['http://h.example:8700/mazewar/?room=fern-17&name=Ada', 'http://h.example:8700/', 'fern-17'],
  ['https://h.example/rt/mazewar/?room=b', 'https://h.example/rt/', 'b'],
  ['https://h.example/rt/dots/?room=b', 'https://h.example/rt/', 'b'],
  ['https://h.example/mazewar/?room=a&server=ws%3A%2F%2Fother', 'ws://other', 'a'],
])('the address %s leads to %s, room %s (SL-8)', (address, server, room) => {
  expect(readAddress(address)).toEqual({ server, room })
  expect(readAddress(address, 'b').room).toBe('b')
})

test('what is no address is said to be none', () => {
  expect(() => readAddress('http://')).toThrow(/no address/)
})
