// Goal: what members and hub say and keep when a player is put out or invited is as the document
// has it.
// Method: a reader of the document alone reads what the shipped members sent.
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { TYPES } from './capture.ts'
import { captureConduct } from './conduct-capture.ts'
import { readStandard } from './document.ts'
import { readCapture } from './ledger.ts'

const text = readFileSync(new URL('../../docs/STANDARD.md', import.meta.url), 'utf8')

test('a ban, a pardon and votes are read to the last byte, and so is their refusal of a JOIN (SE-4)', async () => {
  const rooms = await captureConduct()
  const ledgers = rooms.map((sent) => readCapture(readStandard(text), sent, TYPES))
  const met = (what: string): unknown[] =>
    ledgers.flatMap(({ met: all }) => (all.get(what) ?? []).map(({ value }) => value))
  for (const what of ['expel', 'pardon', 'vote']) {
    expect(met(`Wish ${what}`).length, `Wish ${what}`).toBeGreaterThan(0)
    expect(met(`Delta ${what}`).length, `Delta ${what}`).toBeGreaterThan(0)
  }
  expect(met('ToHub invite')).toMatchObject([{ uses: 1, rights: 1 }])
  expect(met('FromHub invited')).toMatchObject([{ why: '' }])
  expect(met('record Conduct')).toContainEqual({ done: true, why: '' })
  expect(met('Joined denied')).toMatchObject([
    { code: 'banned', why: 'this player was banned: caps lock' },
    { code: 'banned', why: 'this player was banned: most players want it' },
  ])
  const views = met('Peer view') as { view: { banned: unknown[]; votes: unknown[] } }[]
  expect(Math.max(...views.map(({ view }) => view.banned.length))).toBe(1)
  expect(Math.max(...views.map(({ view }) => view.votes.length))).toBe(1)
})
