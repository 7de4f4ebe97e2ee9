import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { defaults } from '../directory/limits.ts'
import { limitsOf, listOf, metricsPlace, trustOf } from './given.ts'

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
