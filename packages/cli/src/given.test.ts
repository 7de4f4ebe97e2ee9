import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { defaults } from '../../hub/src/machine/limits.ts'
import {
  certificateIn,
  limitsOf,
  listOf,
  metricsPlace,
  natsOf,
  tokenIn,
  trustOf,
  turnOf,
} from './given.ts'

test('what is given once, several times and with commas is one list', () => {
  expect(listOf(undefined)).toEqual([])
  expect(listOf('a, b,,c')).toEqual(['a', 'b', 'c'])
  expect(listOf(['a,b', 7])).toEqual(['a', 'b', '7'])
})

test('the metrics are here, off, or at a port, on loopback unless an address is named (SE-21)', () => {
  expect(metricsPlace('here')).toBe('here')
  expect(metricsPlace('off')).toBe('off')
  expect(metricsPlace('9100')).toEqual({ host: '127.0.0.1', port: 9100 })
  expect(metricsPlace('10.0.0.5:9100')).toEqual({ host: '10.0.0.5', port: 9100 })
  expect(metricsPlace('[::1]:9100')).toEqual({ host: '::1', port: 9100 })
  expect(() => metricsPlace('there')).toThrow(/--metrics is here, off, a port or an address/)
})

test('a file of limits is read, and what is wrong with it is said with its name (SE-9)', () => {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-limits-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'limits.json')
  const read = (text: string): unknown => {
    writeFileSync(file, text)
    return limitsOf(file)
  }
  expect(limitsOf(undefined)).toEqual(defaults())
  expect(read('{"address": {"streams": 7}}')).toMatchObject({ address: { streams: 7, rooms: 128 } })
  expect(() => read('{"address": {"stream": 7}}')).toThrow(
    `--limits ${file}: address has no "stream": did you mean "streams"?`,
  )
  expect(() => read('{')).toThrow(/^--limits \S+limits\.json is no JSON: /)
  expect(() => limitsOf(join(folder, 'none'))).toThrow(/^--limits \S+none cannot be read: ENOENT/)
})

test('proxies are counted, or named (SE-9)', () => {
  expect(trustOf(undefined)).toBe(0)
  expect(trustOf('2')).toBe(2)
  expect(trustOf(1)).toBe(1)
  expect(trustOf('127.0.0.1,10.0.0.0/8')).toHaveLength(2)
  expect(trustOf(['::1', '10.0.0.1'])).toHaveLength(2)
  expect(() => trustOf('nginx')).toThrow(/--trust-proxy has addresses, .*: "nginx"/)
  expect(() => trustOf('99')).toThrow(
    /--trust-proxy is the number of proxies in front, 0 to 16: 99/,
  )
})

test('a token is long, and read from a file, as a secret is; a key has a certificate (SE-21)', () => {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-token-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const put = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text)
    return join(folder, name)
  }
  expect(tokenIn(undefined)).toBe(null)
  expect(tokenIn(put('token', `${'x'.repeat(16)}\n`))).toBe('x'.repeat(16))
  expect(() => tokenIn(put('short', 'x'.repeat(15)))).toThrow(
    /short: a token has at least 16 .*: 15;/,
  )
  expect(() => tokenIn(put('odd', `${'x'.repeat(16)} y`))).toThrow(/no space/)
  expect(() => tokenIn(join(folder, 'none'))).toThrow(
    /^--metrics-token \S+none cannot be read: ENO/,
  )
  const secret = put('turn', 's'.repeat(16) + '\n')
  expect(turnOf(undefined, undefined)).toBe(undefined)
  expect(turnOf(['turn:a', 'turn:b'], secret)).toEqual({
    urls: ['turn:a', 'turn:b'],
    secret: 's'.repeat(16),
  })
  expect(() => turnOf('turn:a', undefined)).toThrow(/^--turn turn:a needs --turn-secret beside it$/)
  expect(() => turnOf(undefined, secret)).toThrow(/^--turn-secret \S+ needs --turn beside it$/)
  expect(() => turnOf('turn:a', join(folder, 'none'))).toThrow(/^--turn-secret \S+none cannot be/)
  expect(natsOf({})).toBe(null)
  expect(natsOf({ store: 'nats://a,b', natsCreds: secret, natsCa: secret })).toEqual({
    ...{ servers: ['nats://a', 'b'], credentials: 's'.repeat(16) + '\n' },
    tls: { ca: 's'.repeat(16) + '\n' },
  })
  expect(() => natsOf({ natsCa: secret })).toThrow(/need --store beside them$/)
  expect(() => natsOf({ store: 'a', natsCreds: join(folder, 'none') })).toThrow(
    /^--nats-creds cannot/,
  )
  expect(certificateIn(undefined)).toBe(null)
  const both = put('both.pem', 'PEM')
  expect(certificateIn(both)).toEqual({ cert: 'PEM', key: 'PEM' })
  expect(certificateIn(both, put('key.pem', 'KEY'))).toEqual({ cert: 'PEM', key: 'KEY' })
  expect(() => certificateIn(undefined, both)).toThrow(/^--tls-key \S+ needs --tls-cert beside it$/)
  expect(() => certificateIn(join(folder, 'none'))).toThrow(/^--tls-cert cannot be read: ENOENT/)
})
