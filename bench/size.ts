/**
 * What a page loads: the first game of README with what each part of the library costs it, each
 * door with all that it exports, and beside them what clients of other libraries weigh. All of it
 * is bundled and minified by one tool and packed by gzip; doors for Node without their packages.
 */

import { version as viteVersion } from 'vite'
import { installPeers, version } from './processes/peers.ts'
import { atMost, type BenchReport, type Table } from './report.ts'
import { bundle, type Entry, weigh } from './size/bundles.ts'
import { firstGame, readTable, tableOf } from './size/first-game.ts'

/** What the list of benches says of this one. */
export const about = 'what a page loads: the first game by its parts, doors, other clients'

const PEERS = 'bench/peers'

const IN_PAGES = 'holdfast, in pages'
const IN_PAGES_WITH_TEXT = 'holdfast and holdfast/yjs, in pages, without Yjs'
const IN_PAGES_WITH_HOOKS = 'holdfast and holdfast/react, in pages, without React'

/** Entries of this library, besides the first game; `place` is where each runs. */
const OURS: readonly [name: string, place: Entry['place'], text: string][] = [
  ['holdfast: object and fields', 'browser', "export { object, vec2, u8 } from 'holdfast'"],
  [IN_PAGES, 'browser', "export * from 'holdfast'"],
  [IN_PAGES_WITH_HOOKS, 'browser', "export * from 'holdfast'\nexport * from 'holdfast/react'"],
  [IN_PAGES_WITH_TEXT, 'browser', "export * from 'holdfast'\nexport * from 'holdfast/yjs'"],
  ['holdfast/mailbox, in pages', 'browser', "export * from 'holdfast/mailbox'"],
  ['holdfast/sim', 'browser', "export * from 'holdfast/sim'"],
  ['holdfast, on Node', 'node', "export * from 'holdfast'"],
  ['holdfast/hub', 'node', "export * from 'holdfast/hub'"],
  ['holdfast/mailbox, on Node', 'node', "export * from 'holdfast/mailbox'"],
]

/** What a page of the first game loads at most, gzipped. */
const GOAL_KB = 50
/** The goal for what documents add to a page, gzipped. */
const TEXT_KB = 10
/** The goal for what the hooks add to a page, gzipped. */
const HOOKS_KB = 3

/** What applications import of the clients of other libraries. */
const THEIRS: readonly [packages: readonly string[], text: string][] = [
  [['@colyseus/sdk'], "export { Client } from '@colyseus/sdk'"],
  [
    ['yjs', 'y-websocket'],
    "export * as Y from 'yjs'\nexport { WebsocketProvider } from 'y-websocket'",
  ],
  [['socket.io-client'], "export { io } from 'socket.io-client'"],
]

/** Bundles and weighs all of them. A quick run does all of it, too. */
export async function run(): Promise<BenchReport> {
  await installPeers()
  const game = await firstGame()
  const parts = [...readTable(tableOf(game))]
  const rows = [row('first game of README', game.code)]
  for (const [name, place, text] of OURS) {
    const entry = { text, place, folder: 'games/first', without: ['react', 'yjs'] }
    rows.push(row(name, (await bundle(entry)).code))
  }
  for (const [packages, text] of THEIRS) {
    const { code } = await bundle({ text, place: 'browser', folder: PEERS })
    rows.push(row(packages.map(version).join(', '), code))
  }
  const packed = new Map(rows.map(([name, , gzipped]) => [name, gzipped]))
  const over = (name: string): number => {
    return Number((packed.get(name)! - packed.get(IN_PAGES)!).toFixed(1))
  }
  const [hooks, documents] = [over(IN_PAGES_WITH_HOOKS), over(IN_PAGES_WITH_TEXT)]
  return {
    tables: [
      table(
        'first game, by part',
        parts.map(([part, of]) => [part, ...kilobytes(of)]),
      ),
      table('bundles', rows),
    ],
    goals: [
      atMost('first game of README, gzipped', weigh(game.code).gzipped / 1_000, GOAL_KB, 'kB'),
      atMost('hooks of holdfast/react, gzipped', hooks, HOOKS_KB, 'kB'),
      atMost('documents of holdfast/yjs, gzipped', documents, TEXT_KB, 'kB'),
    ],
    notes: [
      `kB of 1,000 bytes, Vite ${viteVersion}, target es2022, gzip at level 9`,
      'parts: gzip packs each alone, so their sum is a little more than the whole',
    ],
  }
}

function row(name: string, code: string): [string, number, number] {
  return [name, ...kilobytes(weigh(code))]
}

function kilobytes({ minified, gzipped }: ReturnType<typeof weigh>): [number, number] {
  return [Number((minified / 1_000).toFixed(1)), Number((gzipped / 1_000).toFixed(1))]
}

function table(title: string, rows: Table['rows']): Table {
  return { title, columns: ['what', 'minified kB', 'gzipped kB'], rows }
}
