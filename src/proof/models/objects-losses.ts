/**
 * What may become of packets with updates in the objects' model: they arrive, and their acks; where
 * the scope says so they are lost, arrive twice, or are taken for lost though they are not.
 */

import * as bags from './bags.ts'
import * as budgets from './budgets.ts'
import { act, spending } from './objects-acts.ts'
import type { Scene, Step, Tables } from './objects-tables.ts'

/** Of those under way in a bag, with what is left. */
export function flying(tables: Tables, bag: number, left: number): Step[] {
  const { losses, doubles, doubts } = budgets.leftOf(tables.budgets, left)
  return tables.packets.bags.items[bag]!.flatMap((packet) => {
    const { arrives, lost, twice, doubted } = stepsOf(tables, packet)
    const steps = [arrives]
    if (losses > 0) steps.push(lost)
    if (doubles > 0 && !tables.fates[packet]!.ack) steps.push(twice)
    if (doubts > 0) steps.push(doubted)
    return steps
  })
}

/** Of those in a bag that are not under way, and whose sender does not know. */
export function missed(tables: Tables, bag: number): Step[] {
  const { place, packets, fates } = tables
  return packets.bags.items[bag]!.map((packet) => {
    const fate = fates[packet]!
    const next = (scene: Scene): void => {
      scene[place.silent] = bags.remove(packets.bags, scene[place.silent]!, packet)
      act(tables, scene, fate.from, fate.lost)
    }
    return { label: `packet ${fate.seq} of ${fate.from} is missed`, next }
  })
}

function stepsOf(
  tables: Tables,
  packet: number,
): Record<'arrives' | 'lost' | 'twice' | 'doubted', Step> {
  const fate = tables.fates[packet]!
  const { from, to, seq, ack } = fate
  const name = `packet ${seq} of ${from} to ${to}`
  const what = ack ? `the ack of ${name}` : name
  const land = (scene: Scene): void => {
    take(tables, scene, packet)
    if (ack) return act(tables, scene, from, fate.acked)
    act(tables, scene, to, fate.arrives)
    // Where nothing is lost it makes no difference when the ack comes.
    if (!tables.lossy) act(tables, scene, from, fate.acked)
    else put(tables, scene, 'packets', fate.acknowledged)
  }
  const vanish = (scene: Scene): void => {
    take(tables, scene, packet)
    put(tables, scene, 'silent', packet)
  }
  const again = (scene: Scene): void => act(tables, scene, to, fate.arrives)
  const doubt = (scene: Scene): void => act(tables, scene, from, fate.lost)
  return {
    arrives: { label: `${what} arrives`, next: land },
    lost: spending(tables, 'losses', `${what} is lost`, vanish),
    twice: spending(tables, 'doubles', `${what} arrives twice`, again),
    doubted: spending(tables, 'doubts', `${name} is taken for lost`, doubt),
  }
}

function take({ place, packets }: Tables, scene: Scene, packet: number): void {
  scene[place.packets] = bags.remove(packets.bags, scene[place.packets]!, packet)
}

function put(
  { place, packets }: Tables,
  scene: Scene,
  where: 'packets' | 'silent',
  packet: number,
): void {
  scene[place[where]] = bags.add(packets.bags, scene[place[where]]!, packet)
}
