// Goal: a hub that hangs is left for the next address within 2.5 s, and one that is the only one
// for itself after 7.
// Method: two nodes that take streams as hubs do, in virtual time, and a connection to them.
import { expect, test } from 'vitest'
import type { StreamEvents } from '../../packages/holdfast/src/ports.ts'
import { fromHub } from '../../packages/holdfast/src/hub-protocol/messages.ts'
import { HubConnection } from '../../packages/holdfast/src/runtime/hub-stream.ts'
import { encode } from '../../packages/holdfast/src/wire/layout.ts'
import { frameMessage } from '../../packages/holdfast/src/wire/relay.ts'
import { createWorld } from '../../packages/sim/src/world.ts'

const PONG = frameMessage(encode(fromHub, { kind: 'pong', count: 0 }))

/** When streams opened at which hub, and closed, after the first one hung at `hangsAt`. */
function course(urls: readonly string[], hangsAt: number): string[] {
  const world = createWorld({ seed: 1 })
  const told: string[] = []
  for (const name of ['a', 'b']) {
    const hub = world.node(name)
    hub.listen(`hub:${name}`, (stream): StreamEvents => {
      const answer = (): void => void stream.send(PONG)
      return {
        opened: () => {
          told.push(`${name} ${Math.round(world.now() - hangsAt)}`)
          answer()
        },
        message: answer,
        closed: () => {},
      }
    })
  }
  const member = world.node('member')
  const nothing = (): void => {}
  const connection = new HubConnection(urls, member, {
    ...{ opened: nothing, met: nothing, message: nothing, quiet: nothing, relayed: nothing },
    closed: () => told.push(`closed ${Math.round(world.now() - hangsAt)}`),
    isNeeded: () => true,
  })
  world.runSync(hangsAt)
  world.stall('a', 20_000)
  world.runSync(9_000)
  connection.end()
  return told
}

test('a member pings a silent hub after 0.4 s, or after 1 s if it does not need the hub', () => {
  const asked = (isNeeded: boolean): number => {
    const world = createWorld({ seed: 1 })
    let pings = 0
    world.node('hub').listen('hub:a', (stream): StreamEvents => {
      return {
        opened: () => stream.send(PONG),
        message: () => {
          pings++
          stream.send(PONG)
        },
        closed: () => {},
      }
    })
    const nothing = (): void => {}
    const connection = new HubConnection(['hub:a'], world.node('member'), {
      ...{ opened: nothing, met: nothing, message: nothing, quiet: nothing, relayed: nothing },
      closed: nothing,
      isNeeded: () => isNeeded,
    })
    world.runSync(20_000)
    connection.end()
    return pings
  }
  expect(asked(true)).toBeGreaterThan(45)
  expect(asked(false)).toBeLessThan(21)
  expect(asked(false)).toBeGreaterThan(17)
})

test('of two hubs that both hang each is dialled in turn, for longer each time', () => {
  const world = createWorld({ seed: 1 })
  for (const name of ['a', 'b']) {
    world.node(name).listen(`hub:${name}`, (stream): StreamEvents => {
      return { opened: () => stream.send(PONG), message: () => stream.send(PONG), closed: () => {} }
    })
  }
  const dials: number[] = []
  const member = world.node('member')
  const { loop } = member
  const connect: typeof member.connect = (url, events) => {
    dials.push(world.now())
    return member.connect(url, events)
  }
  const nothing = (): void => {}
  const connection = new HubConnection(
    ['hub:a', 'hub:b'],
    { loop, connect },
    {
      ...{ opened: nothing, met: nothing, message: nothing, quiet: nothing, relayed: nothing },
      closed: nothing,
      isNeeded: () => true,
    },
  )
  world.runSync(5_000)
  for (const name of ['a', 'b']) world.stall(name, 60_000)
  dials.length = 0
  world.runSync(20_000)
  connection.end()
  const waits = dials.slice(1).map((at, n) => Math.round((at - dials[n]!) / 50) * 50)
  // Each opening takes so long, and a pause follows.
  expect(waits.slice(0, 5)).toEqual([550, 1_100, 1_100, 2_200, 2_200])
})

test.each([5_000, 5_111, 5_333, 5_500])('a hub hangs after %i ms', (at) => {
  const [opened, closed, next] = course(['hub:a', 'hub:b'], at)
  expect([opened, next?.split(' ')[0]]).toEqual([`a ${-at}`, 'b'])
  const left = Number(closed?.split(' ')[1])
  expect(left).toBeGreaterThan(1_000)
  expect(left).toBeLessThan(2_550)
  const [, alone] = course(['hub:a'], at)
  const stayed = Number(alone?.split(' ')[1])
  expect(stayed).toBeGreaterThan(6_000)
  expect(stayed).toBeLessThan(7_050)
})
