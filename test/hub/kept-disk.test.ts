// Goal: a room that is kept opens as the disk has it, whatever the disk answers and when, and goes
// when its time is over.
// Method: the machine of the hub by hand, with a disk that answers when the test says so.
import { describe, expect, test } from 'vitest'
import * as archive from '../../packages/hub/src/machine/archive.ts'
import { SILENT_MS } from '../../packages/holdfast/src/hub-protocol/messages.ts'
import * as hub from '../../packages/hub/src/machine/hub.ts'
import type { FromHub } from '../../packages/holdfast/src/hub-protocol/messages.ts'
import { placeOf } from '../../packages/hub/src/machine/register.ts'
import { Desk, listed, OPEN, proof } from './desk.ts'

const BACK_MS = 3_000

const MINUTE = 60_000
const PLACE = placeOf({ game: 'g', room: 'r' })

describe('a kept room', () => {
  test('opens with the segments that the disk has, where it refused one meanwhile (AP-1)', () => {
    const { desk, id, stream } = scene()
    expect(keep(desk, stream, id, 0)).toMatchObject([{ kind: 'kept', index: 0, why: '' }])
    desk.atOnce = false
    keep(desk, stream, id, 1)
    desk.owed.clear()
    hub.beginWrite(desk.hub, PLACE)
    desk.close(stream)
    desk.go(BACK_MS + 1)
    const other = desk.open()
    desk.owed.clear()
    ask(desk, other, 2)
    hub.failWrite(desk, PLACE, 'full')
    desk.owed.add(PLACE)
    desk.write()
    const [added, ...segments] = desk.heard.get(other)!.slice(-2)
    expect(added).toMatchObject({ kind: 'added', opened: { inc: 258, segments: 1 } })
    expect(segments).toMatchObject([{ kind: 'segment', bytes: Uint8Array.of(0) }])
    expect(archive.latestOf(desk.hub.archive.rooms.get(id))).toMatchObject({ by: 0, next: 259 })
  })

  test('that the disk refuses to open is as it was, and no epoch is given twice (AP-1)', () => {
    const { desk, id, stream } = scene()
    keep(desk, stream, id, 0)
    const heir = desk.open()
    desk.say(stream, { kind: 'members', session: id, members: [listed(1), listed(2)], players: 2 })
    desk.attach(heir, id, 2)
    const said = { kind: 'change', request: 3, session: id, backup: 0 } as const
    const adds = { inc: 1, proof: proof(1), expect: 1, primary: 1, backup: 2, why: 'add' } as const
    desk.say(stream, { ...said, ...adds })
    desk.close(stream)
    const takes = { inc: 2, proof: proof(2), expect: 2, primary: 2, why: 'takeover' } as const
    desk.say(heir, { ...said, ...takes })
    desk.restart()
    desk.go(SILENT_MS)
    const other = desk.open()
    desk.atOnce = false
    expect(ask(desk, other, 3)).toEqual([])
    desk.write('full')
    expect(desk.heard.get(other)!.at(-1)).toMatchObject({ kind: 'refused', why: 'full' })
    const row = desk.hub.registers.rows.get(id)!
    expect(row.entry.register).toEqual({ epoch: 3, primary: 2, backup: 0 })
    ask(desk, other, 3)
    desk.write()
    const added = desk.heard.get(other)!.find((message) => message.kind === 'added')
    expect(added!.entry.register).toEqual({ epoch: 4, primary: 258, backup: 0 })
  })

  test('goes in time, where the hub was killed before it wrote that its session is over (AP-1)', () => {
    const { desk, id, stream } = scene()
    keep(desk, stream, id, 0)
    desk.atOnce = false
    desk.close(stream)
    desk.go(2 * MINUTE)
    desk.disk.change(hub.beginWrite(desk.hub, PLACE)!)
    desk.restart()
    desk.atOnce = true
    expect(desk.hub.registers.rows.size).toBe(0)
    desk.pass(9 * MINUTE)
    expect(desk.hub.archive.rooms.size).toBe(1)
    desk.pass(2 * MINUTE)
    expect(desk.hub.archive.rooms.size).toBe(0)
    expect([desk.disk.records.size, desk.disk.blobs.size]).toEqual([0, 0])
  })
})

// A room that is kept for ten minutes, with its first primary.
function scene(): { desk: Desk; id: string; stream: number } {
  const desk = new Desk()
  const stream = desk.open()
  const added = ask(desk, stream, 1).find((message) => message.kind === 'added')
  const id = added!.entry.session
  desk.attach(stream, id, 1)
  return { desk, id, stream }
}

function ask(desk: Desk, stream: number, process: number): FromHub[] {
  const { hash, link, key } = listed(process)
  const place = { game: 'g', room: 'r', playersMax: 4, recovers: false, terms: 'keep=10' }
  const wish = { ...OPEN, ...place, hash, link, key }
  return desk.say(stream, { kind: 'add', request: 1, topology: 'star', ...wish })
}

// Its primary writes: the whole of it at first, an entry then.
function keep(desk: Desk, stream: number, session: string, index: number): FromHub[] {
  const said = {
    number: index,
    from: index === 0 ? null : index - 1,
    index,
    time: 0,
    next: 2,
    acks: 'strict' as const,
  }
  const bytes = Uint8Array.of(index)
  return desk.say(stream, { kind: 'keep', session, ...said, piece: 0, of: 1, bytes })
}
