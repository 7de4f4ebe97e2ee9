// Goal: links for others name this machine as others find it, and are told to nobody else.
import { expect, test } from 'vitest'
import { isThisMachine } from '../../../holdfast/src/drivers/net/server/origins.ts'
import { reachOf } from './serve.ts'

const one = (address: string, family: 'IPv4' | 'IPv6', internal = false) => {
  return { address, family, internal, netmask: '', mac: '', cidr: null, scopeid: 0 } as never
}
const interfaces = {
  lo: [one('127.0.0.1', 'IPv4', true)],
  wlan: [one('192.168.1.5', 'IPv4'), one('fe80::1', 'IPv6')],
  odd: [one('169.254.7.7', 'IPv4')],
  gone: undefined,
}

test('a hub on all addresses is found at those of the network', () => {
  for (const host of ['0.0.0.0', '::']) {
    expect(reachOf(host, 'http://localhost:8700/', interfaces)).toEqual(['http://192.168.1.5:8700'])
  }
  expect(reachOf('0.0.0.0', 'http://localhost:8700/', {})).toEqual([])
})

test('a hub on one address is found there, and on loopback nowhere', () => {
  expect(reachOf('10.0.0.4', 'https://10.0.0.4:81/', interfaces)).toEqual(['https://10.0.0.4:81'])
  expect(reachOf('fd00::4', 'http://[fd00::4]:80/', interfaces)).toEqual(['http://[fd00::4]'])
  for (const host of ['127.0.0.1', '127.1.2.3', 'localhost', '::1', 'a.localhost']) {
    expect(reachOf(host, 'http://localhost:80/', interfaces)).toEqual([])
  }
})

test('who asks at a name of its own is told nothing of the machine', () => {
  for (const host of ['localhost:8700', '127.0.0.1', '[::1]:8700', 'x.localhost:1']) {
    expect(isThisMachine(host)).toBe(true)
  }
  for (const host of ['', 'play.example.com', '192.168.1.5:8700', 'localhost.evil.com']) {
    expect(isThisMachine(host)).toBe(false)
  }
})
