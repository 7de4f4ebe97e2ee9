// Goal: several carriers are one: each address has one carrier, and all open or none.
// Method: carriers of the test, each for one scheme, that note what they are asked.
import { expect, test } from 'vitest'
import { HoldfastError } from '../../machine.ts'
import type { DatagramEvents, OpenDatagrams } from '../../ports.ts'
import { openCarriers } from './carriers.ts'

const NOTHING: DatagramEvents = { datagram: () => {}, refused: () => {} }

function carriersOf() {
  const did: string[] = []
  const carrier = (name: string, ...schemes: string[]): OpenDatagrams => {
    return async () => ({
      addresses: schemes.map((scheme) => `${scheme}:${name}`),
      reaches: (address) => {
        did.push(`${name}? ${address}`)
        return schemes.includes(address.split(':')[0]!)
      },
      send: (to) => void did.push(`${name} ${to}`),
      close: () => void did.push(`${name} closed`),
    })
  }
  return { did, carrier }
}

test('their addresses come in turns; the first that reaches one sends there, and is asked once', async () => {
  const { did, carrier } = carriersOf()
  const all = await openCarriers([carrier('a', 'x', 'v'), carrier('b', 'x', 'y')], NOTHING)
  expect(all.addresses).toEqual(['x:a', 'x:b', 'v:a', 'y:b'])
  for (const to of ['x:1', 'y:1', 'y:1', 'z:1', 'z:1']) all.send(to, Uint8Array.of(1))
  expect(did).toEqual([
    ...['a? x:1', 'a x:1'],
    ...['a? y:1', 'b? y:1', 'b y:1', 'b y:1'],
    ...['a? z:1', 'b? z:1', 'a? z:1', 'b? z:1'],
  ])
  expect([all.reaches('y:1'), all.reaches('z:1')]).toEqual([true, false])
})

test('none stays open where one cannot be opened', async () => {
  const { did, carrier } = carriersOf()
  const taken: OpenDatagrams = () => Promise.reject(new HoldfastError('port-taken', 'taken'))
  const opening = openCarriers([carrier('a', 'x'), taken], NOTHING)
  await expect(opening).rejects.toMatchObject({ code: 'port-taken' })
  expect(did).toEqual(['a closed'])
})
