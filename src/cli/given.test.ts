import { expect, test } from 'vitest'
import { listOf, metricsPlace } from './given.ts'

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
