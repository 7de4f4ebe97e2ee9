/** A process that loads a hub: it prepares, says so, and does it for a while when it is told to. */

import { hold } from './holding.ts'
import { keepOn, leaveBehind } from './keeping.ts'
import { echo, lists, relay } from './lanes.ts'
import { register } from './registering.ts'
import type { Asked, Did, Order, Said } from './words.ts'

process.on('disconnect', () => process.exit())

let work: (ms: number) => Promise<Did>

function prepare(order: Order): Promise<(ms: number) => Promise<Did>> {
  switch (order.kind) {
    case 'streams':
    case 'plain':
    case 'rooms':
    case 'members':
      return Promise.resolve(() => hold(order))
    case 'left':
      return Promise.resolve(() => leaveBehind(order))
    case 'registrations':
      return register(order.url, order.streams)
    case 'segments':
      return keepOn(order.url, order.streams)
    case 'lists':
      return lists(order.url, order.by)
    case 'relay':
      return relay(order.url, order.bytes)
    case 'echo':
      return echo(order.url, order.bytes)
  }
}

async function obey(asked: Asked): Promise<Said> {
  if (asked.kind === 'begin') return { kind: 'did', ...(await work(asked.ms)) }
  work = await prepare(asked.order)
  return { kind: 'ready' }
}

process.on('message', (asked: Asked) => {
  void obey(asked).then((said) => process.send?.(said))
})
