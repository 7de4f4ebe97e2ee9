/**
 * Some of Holdfast's clients in one process.
 *
 *     node holdfast-clients.js SETTING FIRST COUNT SCREENS udp|ws|relay node|browser
 *
 * Only who says `node` becomes the backup; `browser` is but a word here, for all have sockets.
 *
 * The first SCREENS of them draw. The others are whole members too, with links, acks, heartbeats
 * and eyes, but do not decode the updates that come: that is not what is measured here.
 */

import { joinIn } from '../../packages/holdfast/src/join/join.ts'
import type { InternalSession as Session } from '../../packages/holdfast/src/join/session-impl.ts'
import type { Definition, ObjectHandle } from '../../packages/holdfast/src/node.ts'
import type { Environment } from '../../packages/holdfast/src/ports.ts'
import { Counted } from './counted.ts'
import { type Screen, watch } from './errors.ts'
import { eyeType, thingType } from './thing.ts'
import { asked, at } from './ticks.ts'
import { used } from './used.ts'
import type { ClientsSaid, Setting, Way, Window } from './words.ts'
import { focus, place, TICK_MS } from './workload.ts'

/** A client says where it looks every so many ticks. */
const LOOK_EVERY = 5

const words = process.argv.slice(2) as string[]
const [settingText, firstText, countText, screensText, way, kind] = words
const setting = JSON.parse(settingText!) as Setting
const [first, count, screensWanted] = [Number(firstText), Number(countText), Number(screensText)]
process.on('disconnect', () => process.exit())

const Thing = thingType(setting)
const Eye = eyeType(setting)
const screens: Screen[] = []
const has: (() => number)[] = []
const wires: Counted[] = []
const sessions: Session[] = []
const looks: ((tick: number) => void)[] = []

async function join(url: string): Promise<void> {
  for (let client = first; client < first + count; client++) {
    // The door of a host takes 128 streams of one address.
    const from = `127.0.0.${1 + (client % 254)}`
    const wire = new Counted(way as Way, kind as Environment['kind'], from)
    wires.push(wire)
    const session = await joinIn(wire.environment, {
      game: 'objects',
      types: [Thing, Eye] as unknown as Definition[],
      server: url,
      playersMax: 256,
      condition: setting.loss > 0 ? `loss=${setting.loss}%` : undefined,
    })
    sessions.push(session)
    if (setting.sees === 'near') look(client, session)
    if (screens.length < screensWanted) screens.push(screenOf(client, session))
    else deafen(session)
  }
}

function look(client: number, session: Session): void {
  const path = focus(setting.seed, setting.objects, client)
  const middle = place()
  const placeAt = (tick: number) => {
    const { x, y } = path(tick, middle)
    return { pos: [x, y] as const }
  }
  const eye = session.create(Eye, placeAt(0))
  looks.push((tick) => {
    if ((tick + client) % LOOK_EVERY === 0) eye.set(placeAt(tick))
  })
}

type ThingHandle = ObjectHandle<(typeof Thing)['schema']['fields']>

function screenOf(client: number, session: Session): Screen {
  const known = new Map<number, ThingHandle>()
  let shown: readonly ThingHandle[] = []
  const into = { pos: [0, 0] as [number, number], vel: [0, 0] as const, turn: 0, spin: 0 }
  has.push(() => session.all(Thing).length)
  return {
    client,
    frame: () => {
      const now = session.all(Thing)
      if (now === shown) return
      shown = now
      known.clear()
      // They were created in their order.
      for (const thing of now) known.set(Number(thing.id.split('.')[1]) - 1, thing)
    },
    ways: [
      {
        name: 'view',
        show: (object, drawn) => {
          const thing = known.get(object)
          if (!thing) return false
          const { pos } = thing.view(into)
          drawn.x = pos[0]
          drawn.y = pos[1]
          return true
        },
      },
    ],
  }
}

// The part of the objects takes no updates any more; messages come as ever.
function deafen(session: Session): void {
  for (const slot of session.member?.mounts ?? []) slot.part = { ...slot.part, read: () => {} }
}

function say(said: ClientsSaid): void {
  process.send?.(said)
}

async function measure(window: Window): Promise<void> {
  for (let tick = 0; tick <= window.to; tick++) {
    at(window.at + tick * TICK_MS, () => {
      for (const one of looks) one(tick)
    })
  }
  const [took, errors] = await Promise.all([used(window, wires), watch(setting, window, screens)])
  const mean = has.reduce((sum, one) => sum + one(), 0) / has.length
  const wanted = way === 'relay' ? 'relay' : 'direct'
  const astray = sessions.filter(({ debug }) => debug.figures().path !== wanted).length
  say({ kind: 'saw', ...took, ...errors, has: mean, astray })
}

asked('join', ({ url }) => void join(url).then(() => say({ kind: 'joined' })))
asked('begin', ({ window }) => void measure(window))
say({ kind: 'stands' })
