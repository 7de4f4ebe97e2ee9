/**
 * What may become of packets with updates in the objects' model: they arrive, and their acks; where
 * the scope says so they are lost, arrive twice, or are taken for lost though they are not.
 */

import * as bags from './bags.ts'
import * as budgets from './budgets.ts'
import { act, spending } from './objects-acts.ts'
import type { Scene, Step, Tables } from './objects-tables.ts'

/** What may become of all those of a scene; behind other steps. */
export function losing(tables: Tables): (scene: Scene, steps: Step[]) => void {
  const { place, packets, fates } = tables
  const { items } = packets.bags
  const fallen: ReturnType<typeof stepsOf>[] = []
  const of = (packet: number): (typeof fallen)[number] =>
    (fallen[packet] ??= stepsOf(tables, packet))
  return (scene, steps) => {
    const [under, silent] = [scene[place.packets]!, scene[place.silent]!]
    if (under !== bags.EMPTY) {
      const { losses, doubles, doubts } = budgets.leftOf(tables.budgets, scene[place.left]!)
      for (const packet of items[under]!) {
        const { arrives, lost, twice, doubted } = of(packet)
        steps.push(arrives)
        if (losses > 0) steps.push(lost)
        if (doubles > 0 && !fates[packet]!.ack) steps.push(twice)
        if (doubts > 0) steps.push(doubted)
      }
    }
    if (silent !== bags.EMPTY) for (const packet of items[silent]!) steps.push(of(packet).missed)
  }
}

function stepsOf(
  tables: Tables,
  packet: number,
): Record<'arrives' | 'lost' | 'twice' | 'doubted' | 'missed', Step> {
  const { place, packets, fates } = tables
  const fate = fates[packet]!
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
  const miss = (scene: Scene): void => {
    scene[place.silent] = bags.remove(packets.bags, scene[place.silent]!, packet)
    act(tables, scene, from, fate.lost)
  }
  return {
    arrives: { label: `${what} arrives`, next: land },
    lost: spending(tables, 'losses', `${what} is lost`, vanish),
    twice: spending(tables, 'doubles', `${what} arrives twice`, again),
    doubted: spending(tables, 'doubts', `${name} is taken for lost`, doubt),
    missed: { label: `packet ${seq} of ${from} is missed`, next: miss },
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
