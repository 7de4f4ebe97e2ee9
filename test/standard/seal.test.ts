// Goal: section 21 of docs/STANDARD.md states every byte of sealed links.
// Method: a reader that knows the document alone opens what two ends sent, with the secrets of the
// one that asked, and finds what they said; a golden transcript has the rest of the scene.
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { nodeCurves } from '../../packages/holdfast/src/drivers/crypto/node-crypto.ts'
import { nodeCiphers } from '../node-ciphers.ts'
import { LIMITS } from '../../packages/holdfast/src/seal/limits.ts'
import * as net from '../seal/net.ts'
import { compareTranscript } from '../transcript.ts'
import { readStandard } from './document.ts'
import * as reader from './seal.ts'
import { tell } from './values.ts'

const standard = readStandard(readFileSync('docs/STANDARD.md', 'utf8'))
const REAL = { ciphers: nodeCiphers, curves: nodeCurves }

/** Ada asks, says, moves, and renews her keys; what each datagram says, with those of the asker. */
function scene(differs: net.Differs): { world: net.Net; handshakes: reader.Handshake[] } {
  const world = net.createNet()
  const [ada, bea] = [net.addEnd(world, 'ada', 1, differs), net.addEnd(world, 'bea', 2, differs)]
  const handshakes: reader.Handshake[] = []
  const note = (): void => {
    const { secret } = ada.seal.peers.get(net.keyOf(bea))!.initiator!
    handshakes.push({ session: 's-1', e: secret, s: ada.seal.secret, asked: bea.seal.point })
  }
  net.ask(world, ada, bea, new TextEncoder().encode('JOIN'))
  note()
  net.settle(world)
  for (let n = 0; n < 300; n++) net.say(world, ada, bea, `packet ${n}`)
  net.say(world, bea, ada, 'and back')
  net.settle(world)
  ada.address = 'udp:ada-elsewhere'
  net.say(world, ada, bea, 'from here')
  net.settle(world)
  world.now += LIMITS.rekeyMs
  net.wake(world, ada)
  note()
  net.settle(world)
  net.say(world, ada, bea, 'with new keys')
  net.settle(world)
  return { world, handshakes }
}

function readAll({ world, handshakes }: ReturnType<typeof scene>): string[] {
  const said: string[] = []
  let own: reader.Opened | null = null
  let at = -1
  for (const { from, bytes } of world.sent) {
    const of = (): reader.Handshake => handshakes[at]!
    if (bytes[0] === 1) {
      at++
      const first = reader.readFirst(standard, of(), bytes)
      own = first.own
      said.push(`${from} ${tell(first.said)}`)
    } else if (bytes[0] === 2) {
      said.push(`${from} ${tell(reader.readSecond(standard, of(), own!, bytes))}`)
    } else {
      const value = reader.readSealed(standard, own!, bytes)
      const text = value instanceof Uint8Array ? Buffer.from(value).toString() : tell(value)
      said.push(`${from} ${text}`)
    }
  }
  return said
}

test('a reader of the document opens all that two ends said, and finds every word (SE-2)', () => {
  const said = readAll(scene(REAL))
  const others = said.filter((line) => !/packet \d+$/.test(line))
  expect(said.length - others.length).toBe(300)
  expect(others.map((line) => line.replace(/(link|number)=\S+/, '$1').slice(0, 67))).toEqual([
    'udp:ada from=1 to=2 link again=false counter=1 mv=1 join=x4a4f494e ',
    'udp:bea yes',
    'udp:ada here',
    'udp:bea here',
    'udp:bea and back',
    'udp:ada-elsewhere from here',
    'udp:bea challenge number',
    'udp:ada-elsewhere answer number',
    'udp:ada-elsewhere from=1 to=2 link again=true counter=2 mv=1 join=-',
    'udp:bea yes',
    'udp:ada-elsewhere here',
    'udp:bea here',
    'udp:ada-elsewhere with new keys',
  ])
})

test('and opens nothing in which a bit is another one (SE-2)', () => {
  const { world, handshakes } = scene(REAL)
  const of = handshakes[0]!
  const [first, second, here] = world.sent.map(({ bytes }) => bytes)
  const flipped = (bytes: Uint8Array, at: number): Uint8Array => {
    const copy = bytes.slice()
    copy[at]! ^= 4
    return copy
  }
  for (let at = 0; at < first!.length - 16; at++) {
    expect(() => reader.readFirst(standard, of, flipped(first!, at))).toThrow(Error)
  }
  for (let at = 0; at < second!.length; at++) {
    const { own } = reader.readFirst(standard, of, first!)
    expect(() => reader.readSecond(standard, of, own, flipped(second!, at))).toThrow(Error)
  }
  const { own } = reader.readFirst(standard, of, first!)
  reader.readSecond(standard, of, own, second!)
  for (let at = 0; at < here!.length; at++) {
    expect(() => reader.readSealed(standard, own, flipped(here!, at))).toThrow(Error)
  }
})

test('the scene goes as it went when somebody last read it', () => {
  const { world } = scene({})
  const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')
  const lines = world.sent
    .filter((_, at) => at < 6 || at > 300)
    .map(({ from, to, bytes }) => `${from} > ${to} ${bytes.length}: ${hex(bytes)}`)
  const ends = [...world.ends.values()].map(({ name, events, seal }) => {
    return `${name}: ${JSON.stringify(events)} ${JSON.stringify(seal.counters)}`
  })
  compareTranscript('seal', [...lines, ...ends])
})
