// Goal: at a closed table of hosts no window of a player has a card that is hidden from it, serves
// or stands by, also when the host that serves goes. Their bytes: test/standard/hosts.test.ts.
// Method: two hosts in this process, and two browser processes that come by links; what each window
// has of every card is counted.
// Slow: two browsers start, and a death is noticed after seconds.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { PLAYERS_MAX, TYPES } from '../../games/tabletop/rules/things.ts'
import { join, type Session } from '../../packages/holdfast/src/node.ts'
import { type Closed, closed } from './closed.ts'
import { facesSeen } from './hands.ts'
import { Window } from './harness.ts'

const SPACE = { game: 'tabletop', room: 'hosts', playersMax: PLAYERS_MAX, types: TYPES } as const

let place: Closed
const hosts: Session[] = []
const windows: Window[] = []

beforeAll(async () => {
  place = await closed('tabletop')
  for (const name of ['Ida', 'Ivo']) {
    const ticket = await place.ticket({ rights: ['host'] })
    const server = place.hub.url
    hosts.push(await join({ ...SPACE, name, primaries: 'hosts', server, ticket }))
  }
})
afterAll(async () => {
  await Promise.all(windows.map((window) => window.end()))
  await Promise.all(hosts.map((host) => host.leave()))
  await place.hub.end()
})

test('T1: players at a table of hosts have no card that is hidden from them (SE-4, SE-18)', async () => {
  for (const name of ['Ada', 'Grace']) {
    const fragment = await place.link({})
    const path = `/tabletop/?room=hosts&hosts&name=${name}`
    windows.push(await Window.open(name, `${place.hub.url}${path}${fragment}`))
  }
  const [ada, grace] = windows as [Window, Window]
  for (const window of windows) {
    await window.until({ status: 'live', members: '1,2,3,4', safety: 'backed-up' })
  }
  await ada.page.getByRole('button', { name: /Free table/ }).click()
  for (const window of windows) await window.until({ pieces: '54' })
  await ada.page.getByRole('button', { name: /^Deal 5/ }).click()
  for (const window of windows) await window.until({ hand: '5' })
  const counted = async (): Promise<unknown> => [await facesSeen(ada), await facesSeen(grace)]
  const each = [
    { deck: 0, 3: 5, 4: 0 },
    { deck: 0, 3: 0, 4: 5 },
  ]
  expect(await counted()).toEqual(each)
  await hosts[0]!.leave()
  for (const window of windows) {
    await window.until({ status: 'live', members: '2,3,4', primary: '2', backup: '', role: 'idle' })
  }
  expect(await counted()).toEqual(each)
  expect(windows.flatMap(({ complaints }) => complaints)).toEqual([])
})
