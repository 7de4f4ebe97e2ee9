/**
 * Some of Colyseus's clients in one process.
 *
 *     node colyseus-clients.js SETTING FIRST COUNT SCREENS
 *
 * The first SCREENS of them decode and draw; the others only count what comes, so that decoding
 * does not eat the processor. They draw in three ways: the state as it came last; its own `lerp`
 * of the tutorials, a fifth of the way in each frame; and Predict's `extrapolate`.
 */

import { peer } from '../processes/peers.ts'
import type { ClientRoom, Colyseus } from './colyseus.ts'
import { type Screen, watch } from './errors.ts'
import { StreamCount } from './stream-count.ts'
import { asked } from './ticks.ts'
import { used } from './used.ts'
import type { ClientsSaid, Setting, Window } from './words.ts'

const LERP = 0.2

const [settingText, firstText, countText, screensText] = process.argv.slice(2) as string[]
const setting = JSON.parse(settingText!) as Setting
const [first, count, screensWanted] = [Number(firstText), Number(countText), Number(screensText)]
process.on('disconnect', () => process.exit())
// Of Node's own one cannot see the socket below, which counts.
Reflect.deleteProperty(globalThis, 'WebSocket')
const { Client, Predict } = await peer<Colyseus>('colyseus')

const screens: Screen[] = []
const wires: StreamCount[] = []
const rooms: ClientRoom[] = []

async function join(url: string): Promise<void> {
  for (let client = first; client < first + count; client++) {
    const room = await new Client(url).joinOrCreate('arena', { number: client })
    rooms.push(room)
    wires.push(new StreamCount(room.connection.transport.ws))
    if (screens.length < screensWanted) screens.push(screenOf(client, room))
    else room.serializer.patch = skip
  }
}

function skip(bytes: Uint8Array, it?: { offset: number }): void {
  if (it) it.offset = bytes.length
}

function screenOf(client: number, room: ClientRoom): Screen {
  const { warn } = console
  // It says that clocks are not synced, which a steady tick on a steady wire does not need.
  console.warn = () => {}
  const predict = Predict.get(room, { mode: 'extrapolate', smoothMs: 0 })
  console.warn = warn
  predict.attachAll('ents', { mode: 'extrapolate', fields: ['x', 'y'] })
  const eased = new Map<number, { x: number; y: number }>()
  const known = (object: number) => room.state.ents?.get(String(object))
  return {
    client,
    frame: () => {
      predict.tick(performance.now())
      for (const [key, ent] of room.state.ents) {
        const drawn = eased.get(Number(key))
        if (!drawn) eased.set(Number(key), { x: ent.x, y: ent.y })
        else {
          drawn.x += (ent.x - drawn.x) * LERP
          drawn.y += (ent.y - drawn.y) * LERP
        }
      }
      for (const key of eased.keys()) if (!known(key)) eased.delete(key)
    },
    ways: [
      { name: 'as it came', show: (object, into) => fill(into, known(object)) },
      { name: 'lerp 0.2', show: (object, into) => fill(into, eased.get(object)) },
      {
        name: 'extrapolate',
        show: (object, into) => {
          const ent = known(object)
          if (!ent) return false
          into.x = predict.value(ent, 'x')
          into.y = predict.value(ent, 'y')
          return true
        },
      },
    ],
  }
}

function fill(into: { x: number; y: number }, from: { x: number; y: number } | undefined): boolean {
  if (!from) return false
  into.x = from.x
  into.y = from.y
  return true
}

function say(said: ClientsSaid): void {
  process.send?.(said)
}

async function measure(window: Window): Promise<void> {
  const [took, errors] = await Promise.all([used(window, wires), watch(setting, window, screens)])
  const has = screens.map(({ client }) => rooms[client - first]!.state.ents.size)
  say({
    kind: 'saw',
    ...took,
    ...errors,
    has: has.reduce((sum, one) => sum + one, 0) / has.length,
    astray: 0,
  })
}

asked('join', ({ url }) => void join(url).then(() => say({ kind: 'joined' })))
asked('begin', ({ window }) => void measure(window))
say({ kind: 'stands' })
