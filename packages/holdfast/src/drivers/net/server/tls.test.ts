// Goal: whoever opens a hub to others without TLS hears of it once it listens; nobody else does.
// Method: a server by its events alone, for a test listens on loopback only.
import { EventEmitter } from 'node:events'
import type { Server } from 'node:http'
import { expect, test } from 'vitest'
import { createSecureServer, renew, whenBare } from './tls.ts'

function listening(address: string, isYet = true): Server & EventEmitter {
  const server = new EventEmitter()
  return Object.assign(server, { listening: isYet, address: () => ({ address }) }) as never
}

function heard(server: Server): string[] {
  const addresses: string[] = []
  whenBare(server, (address) => addresses.push(address))
  return addresses
}

test('a server beyond this machine is named, those on loopback are not (SE-21)', () => {
  for (const address of ['10.0.0.5', '0.0.0.0', '::']) {
    expect(heard(listening(address))).toEqual([address])
  }
  for (const address of ['127.0.0.1', '::1', '::ffff:127.0.0.1']) {
    expect(heard(listening(address))).toEqual([])
  }
})

test('one that does not listen yet is named when it does, unless somebody stops to ask (SE-21)', () => {
  const [server, other] = [listening('10.0.0.5', false), listening('10.0.0.5', false)]
  const addresses = heard(server)
  const stop = whenBare(other, (address) => addresses.push(address))
  expect(addresses).toEqual([])
  stop()
  for (const one of [other, server]) one.emit('listening')
  expect(addresses).toEqual(['10.0.0.5'])
})

test('what is no certificate is said with the option that gave it', () => {
  const wrong = { cert: 'none', key: new TextEncoder().encode('none') }
  const sentence = /^listen\.tls takes a certificate and its key, as PEM: /
  expect(() => createSecureServer(wrong, 'listen.tls', {}, () => {})).toThrow(sentence)
  const server = createSecureServer({ cert: '', key: '' }, 'listen.tls', {}, () => {})
  expect(() => renew(server, wrong, 'listen.tls')).toThrow(sentence)
})
