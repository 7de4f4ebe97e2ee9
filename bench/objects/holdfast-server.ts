/**
 * Holdfast's primary, which owns all objects.
 *
 *     node holdfast-server.js SETTING URL WAY
 */

import { host } from '../../packages/holdfast/src/node.ts'
import { eyeType, thingType } from './thing.ts'
import { asked, beat } from './ticks.ts'
import type { ServerSaid, Setting, Way } from './words.ts'
import { HZ, paths, place } from './workload.ts'

const [settingText, url, way] = process.argv.slice(2) as [string, string, Way]
const setting = JSON.parse(settingText) as Setting
process.on('disconnect', () => process.exit())

const Thing = thingType(setting)
const session = await host({
  game: 'objects',
  name: 'primary',
  types: [Thing, eyeType(setting)],
  server: url,
  playersMax: 256,
  updatesPerSecond: HZ,
  udp: way === 'udp' ? {} : null,
  ...(way === 'ws' ? { listen: { port: 0 } } : {}),
})
const ways = paths(setting.seed, setting.objects)
const at = place()
const things = ways.map((path) => session.create(Thing, stateAt(path(0, at))))

function stateAt({ x, y, vx, vy, turn, spin }: typeof at) {
  return { pos: [x, y] as const, vel: [vx, vy] as const, turn, spin }
}

function tick(n: number, by: number): void {
  if (!steady) return
  // They stood still while everybody joined; in the first second one after the other moves off.
  for (const [index, path] of ways.entries()) {
    if (n >= index % HZ) things[index]!.set(stateAt(path(by, at)))
  }
}

function say(said: ServerSaid): void {
  process.send?.(said)
}

let steady = true
session.on('primary', () => (steady = false))
asked('begin', ({ window }) => {
  void beat(window, tick).then((took) => say({ kind: 'served', ...took, interestMs: 0, steady }))
})
say({ kind: 'serves', port: 0 })
