// Goal: a face that is hidden never leaves for a window that may not see it, and not only is not
// shown there.
// Method: all that real windows of a card table send is captured and read by the document alone.
// Slow: four browsers start, and all that they sent is read by the document.
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Card, Die, Man, Token } from '../../games/tabletop/rules/pieces.ts'
import { Hand } from '../../games/tabletop/rules/things.ts'
import { readStandard } from '../standard/document.ts'
import { type Ledger, readCapture, type Sent } from '../standard/ledger.ts'
import { type Read, tell } from '../standard/values.ts'
import { Cluster } from './cluster.ts'
import { agreed, dragTo, pointOf, state, top, type Globals } from './hands.ts'
import type { Window } from './harness.ts'
import { unsealed } from './unsealing.ts'

const NAMES = ['Ada', 'Eve', 'Grace', 'Linus']
// In the order of their names.
const PIECES = [Card, Die, Man, Token].map(({ schema }) => schema.text)
const OBJECTS = [{ schema: Hand.schema.text, moves: true }]

interface CardFields {
  up: boolean
  hand: number
  face?: number
}

let cluster: Cluster
let windows: Window[]

beforeAll(async () => {
  cluster = await Cluster.begin()
  windows = []
  for (const [place, name] of NAMES.entries()) {
    const window = await cluster.open(name, `/tabletop/?room=hidden&name=${name}`)
    await window.until({ status: 'live', me: String(place + 1) })
    windows.push(window)
  }
  for (const window of windows) await window.until({ members: '1,2,3,4', safety: 'backed-up' })
  await windows[0]!.page.getByRole('button', { name: /Free table/ }).click()
  for (const window of windows) await window.until({ pieces: '54' })
})
afterAll(() => cluster.end())

/** A card in a player's hand. */
async function inHandOf(player: number): Promise<string> {
  return windows[0]!.page.evaluate((whose) => {
    const { things } = (globalThis as unknown as Globals).tabletop
    return things.find(({ kind, handle }) => kind === 'card' && handle.state.hand === whose)!.id
  }, player)
}

/** All that the windows sent, in order, read by the document. */
async function readAll(): Promise<Ledger> {
  const all = (await Promise.all(windows.map((window) => window.keys()))).flat()
  const keys = { all, known: new Map() }
  const text = readFileSync(new URL('../../docs/STANDARD.md', import.meta.url), 'utf8')
  const sent = windows.flatMap(({ name, sent: all }) => all.map((one) => ({ ...one, name })))
  const inOrder = sent.toSorted((a, b) => a.at - b.at)
  const capture = inOrder.map(({ name, bytes }): Sent => {
    const read = unsealed(keys, bytes)
    if (!read) throw new Error(`${name} sent what none of its keys opens`)
    return { way: 'up', node: name, bytes: read }
  })
  return readCapture(readStandard(text), capture, OBJECTS, PIECES)
}

/** Cards whose face a window was sent as news, each by whose hand it was in, or `open`. */
function facesSentTo({ met }: Ledger, name: string): string[] {
  const told = [...(met.get('Pieces news') ?? []), ...(met.get('Pieces table') ?? [])]
  const rows = told
    .filter(({ to }) => to === name)
    .flatMap(({ value }) => (value['entries'] ?? value['rows']) as Read[])
    .map((one) => (one['row'] ?? one) as Read)
  const cards = new Set<string>()
  for (const { id, fields } of rows) {
    const { up, hand, face } = (fields ?? {}) as Partial<CardFields>
    if (face !== undefined) cards.add(`${up ? 'open' : hand} card ${tell(id!)}`)
  }
  return [...cards].map((card) => card.split(' ')[0]!).toSorted()
}

/** Who was sent of the log, in which every face stands. */
function logSentTo({ met }: Ledger): string[] {
  const told = [...(met.get('Peer replicate') ?? []), ...(met.get('Peer snapshot') ?? [])]
  return [...new Set(told.map(({ to }) => to))]
}

test('O53: no window is sent a face that it may not see; only the backup has the log', async () => {
  const [ada, , grace, linus] = windows as [Window, Window, Window, Window]
  await ada.page.getByRole('button', { name: /^Deal 5/ }).click()
  for (const window of windows) await window.until({ hand: '5', primary: '1', backup: '2' })
  const card = await inHandOf(3)
  await dragTo(grace, card, [1000, 620])
  await agreed(windows, card)
  expect((await state(linus, card)).face).not.toBe(null)
  // Grace looks through the deck, and all are told.
  const [x, y] = await pointOf(grace.page, await top(grace))
  await grace.page.mouse.click(x, y, { button: 'right' })
  await grace.page.getByRole('menuitem', { name: 'Look through it' }).click()
  await grace.page.getByRole('heading', { name: 'You look through 32 cards' }).waitFor()
  await linus.page.getByText('Grace looks through a pile.').waitFor()
  await grace.page
    .getByRole('button', { name: /^Take the / })
    .first()
    .click()
  await grace.until({ hand: '5', pending: '0' })
  await grace.page.keyboard.press('Escape')
  await linus.until({ log: 'looks no more' })
  const ledger = await readAll()
  const mine = (player: number): string[] => Array.from({ length: 5 }, () => String(player))
  const looked = Array.from({ length: 32 }, () => '0')
  expect(facesSentTo(ledger, 'Eve')).toEqual([...mine(2), 'open'])
  expect(facesSentTo(ledger, 'Grace')).toEqual([...looked, ...mine(3), '3', 'open'])
  expect(facesSentTo(ledger, 'Linus')).toEqual([...mine(4), 'open'])
  expect(logSentTo(ledger)).toEqual(['Eve'])
  expect(cluster.complaints).toEqual([])
})
