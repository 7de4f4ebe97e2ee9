/**
 * A million hostile packets: into members in the middle of a session, by a stranger and by a
 * member that lies; into the hub. Half of them are well formed with hostile content. And a
 * million into a hub that runs, whose disk is full for the middle third.
 *
 * The claims are those of test/fuzz; here they are asked after each scene of 10,000 packets, and
 * every scene has a seed of its own, so that the one that fails can be run alone.
 */

import * as cluster from '../../test/fuzz/cluster.ts'
import * as desk from '../../test/fuzz/hub.ts'
import { storm, type Storm } from '../../test/fuzz/hub-storm.ts'
import { atMost, atLeast } from '../report.ts'
import type { BenchReport, Table } from '../report.ts'

/** For the list of soaks. */
export const about =
  '1,000,000 hostile packets into members and the hub, and as many into one whose disk fills'

const PACKETS = 1_000_000
const SCENE = 10_000

/** What one kind of target made of what it got. */
interface Found {
  scenes: number
  packets: number
  refused: number
  complaints: string[]
  /** Most memory of the process after a scene, in MB. */
  memory: number
}

/** Fuzzes. @param seed the first of the scenes' seeds */
export async function run({ seed }: { seed: number }): Promise<BenchReport> {
  const members = nothing()
  const hub = nothing()
  for (let scene = 0; scene < PACKETS / SCENE; scene++) {
    if (scene % 4 === 3) atHub(seed + scene, hub)
    else await atMembers(seed + scene, members)
  }
  const onDisk = await storm(seed, PACKETS)
  const all = [members, hub]
  const complaints = all.flatMap((one) => one.complaints)
  const sum = (field: 'packets' | 'refused'): number =>
    all.reduce((total, one) => total + one[field], 0)
  return {
    tables: [table(members, hub), stormTable(onDisk)],
    goals: [
      atLeast('hostile packets', sum('packets'), PACKETS, 'packets'),
      atLeast('refused and counted', sum('refused'), PACKETS / 20, 'packets'),
      atMost('claims that did not hold', complaints.length, 0, 'claims'),
      atLeast('hostile messages at a hub whose disk fills', onDisk.sent, PACKETS, 'messages'),
      atLeast('refused by the full disk, by name', onDisk.refused, 100, 'requests'),
      atMost('acknowledged and lost, or other complaints', onDisk.complaints.length, 0, 'claims'),
    ],
    notes: [...complaints, ...onDisk.complaints].slice(0, 20),
  }
}

function stormTable({ sent, closed, acknowledged, refused, complaints }: Storm): Table {
  return {
    title: 'a hub whose disk is full for a third of the time, killed at the end',
    columns: ['messages', 'streams closed', 'acknowledged', 'refused by the disk', 'complaints'],
    rows: [[sent, closed, acknowledged, refused, complaints.length]],
  }
}

function nothing(): Found {
  return { scenes: 0, packets: 0, refused: 0, complaints: [], memory: 0 }
}

async function atMembers(seed: number, found: Found): Promise<void> {
  const scene = await cluster.scene(seed)
  cluster.rage(scene, SCENE)
  const { malformed, unknown, unproven } = cluster.refused(scene)
  note(found, seed, malformed + unknown + unproven, cluster.complaints(scene))
}

function atHub(seed: number, found: Found): void {
  const scene = desk.desk(seed)
  desk.storm(scene, SCENE)
  const { malformed, astray, conflicts, forged, flooding } = scene.hub.counters
  const refused = malformed + astray + conflicts + forged + flooding
  note(found, seed, refused, desk.complaints(scene))
}

function note(found: Found, seed: number, refused: number, complaints: string[]): void {
  found.scenes++
  found.packets += SCENE
  found.refused += refused
  found.complaints.push(...complaints.map((what) => `seed ${seed}: ${what}`))
  found.memory = Math.max(found.memory, process.memoryUsage().rss / 2 ** 20)
}

function table(members: Found, hub: Found): Table {
  const row = (what: string, found: Found): (string | number)[] => [
    what,
    found.scenes,
    found.packets,
    found.refused,
    found.complaints.length,
    Math.round(found.memory),
  ]
  return {
    title: 'hostile packets',
    columns: ['into', 'scenes', 'packets', 'refused', 'complaints', 'memory MB'],
    rows: [row('members', members), row('hub', hub)],
  }
}
