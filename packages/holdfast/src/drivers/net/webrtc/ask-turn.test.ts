// Goal: a TURN server that is silent, or hostile, is said to be of no use, and breaks nothing.
// Method: sockets on loopback that never answer; random changes of an answer.
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { expect, onTestFinished, test } from 'vitest'
import { dice } from '../../../../../../test/conformance/until.ts'
import { askTurn, readAnswer, type TurnRefusal } from './ask-turn.ts'

function ask(port: number): Promise<TurnRefusal | null> {
  const server = { host: '127.0.0.1', port, username: 'u', credential: 'c' }
  return new Promise((resolve) => askTurn(server, resolve))
}

test('a server that does not answer is asked five times, and has code 0', async () => {
  const mute = createSocket('udp4').bind(0, '127.0.0.1')
  onTestFinished(() => void mute.close())
  let asked = 0
  mute.on('message', () => asked++)
  await once(mute, 'listening')
  expect(await ask(mute.address().port)).toEqual({ code: 0, why: 'it does not answer' })
  expect(asked).toBe(5)
})

test('a server whose port is closed has code 0, and the words of the system', async () => {
  const gone = createSocket('udp4').bind(0, '127.0.0.1')
  await once(gone, 'listening')
  const { port } = gone.address()
  gone.close()
  await once(gone, 'close')
  expect(await ask(port)).toMatchObject({ code: 0, why: expect.stringContaining('ECONNREFUSED') })
})

const REQUEST = Buffer.from('000300002112a442000102030405060708090a0b', 'hex')
const UNAUTHORIZED = Buffer.from(
  '011300182112a442000102030405060708090a0b' +
    '0009000400000401' +
    '0014000361626300' +
    '0015000178000000',
  'hex',
)

test('an answer is read, and one to another request is none', () => {
  const expected = { code: 401, why: '', realm: 'abc', nonce: 'x' }
  expect(readAnswer(UNAUTHORIZED, REQUEST)).toEqual(expected)
  const other = Buffer.from(REQUEST)
  other[19]! ^= 1
  expect(readAnswer(UNAUTHORIZED, other)).toBeNull()
})

test('no bytes of a server make more of an answer than a code', () => {
  const random = dice(5)
  let read = 0
  for (let n = 0; n < 20_000; n++) {
    const bytes = Buffer.from(UNAUTHORIZED.subarray(0, n % 3 === 0 ? random.below(45) : 44))
    for (let flips = random.below(4); flips > 0 && bytes.length > 0; flips--) {
      bytes[random.below(bytes.length)] = random.below(256)
    }
    const answer = readAnswer(bytes, REQUEST)
    if (answer === null) continue
    read += 1
    expect(answer.code === 0 || (answer.code >= 300 && answer.code < 800)).toBe(true)
  }
  expect(read).toBeGreaterThan(1_000)
})
