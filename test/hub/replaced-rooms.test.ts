// Goal: a kept room that somebody cannot read is kept under another name before it is founded anew:
// nothing of it is lost, no name stands for two, whatever the disk does.
// Method: a hub by hand, with a disk by hand.
import { describe, expect, test } from 'vitest'
import { proof } from './desk.ts'
import { Kept } from './kept-room.ts'

describe('laid aside', () => {
  const names = (room: Kept): string[] => {
    return [...room.desk.hub.archive.places.keys()].map((place) => place.split(' ').at(-1)!)
  }
  /** A room of that name, that nobody is in. */
  const left = (name = 'main'): Kept => {
    const room = new Kept({}, name)
    room.keep('whole ', 1)
    room.leaves()
    return room
  }

  /** One whose session is over. */
  const ended = (): Kept => {
    const room = left()
    const end = { expect: 1, primary: 1, backup: 0, why: 'end', session: room.id, inc: 1 } as const
    const stream = room.desk.open()
    room.desk.say(stream, { kind: 'change', request: 3, proof: proof(1), ...end })
    return room
  }

  test('it is kept under another name before anybody founds it anew', () => {
    const room = left()
    const [one, other] = [room.desk.open(), room.desk.open()]
    room.desk.atOnce = false
    room.ask(one, 2, { fresh: true })
    room.ask(other, 3, { fresh: true })
    expect(room.desk.heard.get(one)).not.toContainEqual(expect.objectContaining({ kind: 'added' }))
    room.desk.write()
    const told = [one, other].map((stream) => room.added(room.desk.heard.get(stream)!)!)
    expect(told).toMatchObject([
      { created: true, opened: null, entry: { register: { epoch: 1, primary: 1 } } },
      { created: false, opened: null },
    ])
    expect(names(room)).toEqual([`main~${room.id}`])
    room.desk.atOnce = true
    const aside = room.desk.open()
    const heard = room.ask(aside, 4, { room: `main~${room.id}` })
    expect(room.added(heard)).toMatchObject({
      entry: { session: room.id },
      opened: { segments: 1 },
    })
  })

  test.each([
    ['that its session ends', left],
    ['its new name', ended],
  ])('a disk that refuses %s leaves it as it was, and whoever asked hears so', (_, make) => {
    const room = make()
    const stream = room.desk.open()
    room.desk.atOnce = false
    room.ask(stream, 2, { fresh: true })
    room.desk.write('the disk is full')
    expect(room.desk.heard.get(stream)!.at(-1)).toMatchObject({ why: 'the disk is full' })
    expect(names(room)).toEqual(['main'])
    room.desk.atOnce = true
    expect(room.opens(3)).toMatchObject({ text: 'whole ' })
  })

  test('it is laid aside once: its other name is nobody else’s', () => {
    const room = left()
    room.ask(room.desk.open(), 2, { fresh: true })
    const name = `main~${room.id}`
    const heard = room.ask(room.desk.open(), 3, { room: name, fresh: true })
    expect(heard).toMatchObject([{ kind: 'refused', why: expect.stringContaining('is reserved') }])
    expect(names(room)).toEqual([name])
    const longest = left('x'.repeat(60) + '~1-1')
    const again = longest.ask(longest.desk.open(), 3, { room: longest.room, fresh: true })
    expect(again).toMatchObject([{ kind: 'refused' }])
  })

  test('nobody founds a room of the name that it would have, nor takes it away', () => {
    const room = left()
    for (const name of [`main~${room.id}`, `x~${room.id}`]) {
      const heard = room.ask(room.desk.open(), 3, { room: name })
      expect(heard).toMatchObject([
        { kind: 'refused', why: expect.stringContaining('is reserved') },
      ])
    }
    expect(room.added(room.ask(room.desk.open(), 3, { room: 'main~other' }))).toBeDefined()
  })

  test('where somebody has its other name already it stays, and who asks hears so', () => {
    const room = ended()
    // As a session whose number was guessed before there was one.
    const { rooms, places } = room.desk.hub.archive
    const known = rooms.get(room.id)!
    rooms.delete(room.id)
    room.ask(room.desk.open(), 3, { room: `main~${room.id}` })
    rooms.set(room.id, known)
    const heard = room.ask(room.desk.open(), 2, { fresh: true })
    expect(heard).toMatchObject([
      { kind: 'refused', why: expect.stringContaining('cannot be renamed') },
    ])
    expect(places.size).toBe(1)
    expect(room.opens(4).text).toBe('whole ')
  })

  test('while one waits for that, others wait as well', () => {
    const room = ended()
    const [one, other] = [room.desk.open(), room.desk.open()]
    room.desk.atOnce = false
    room.ask(one, 2, { fresh: true })
    expect(room.ask(other, 3)).toEqual([])
    room.desk.write()
    expect(room.added(room.desk.heard.get(other)!)).toMatchObject({ created: false })
  })

  test.each([
    ['x'.repeat(64), /^x{5,63}~/],
    // What is cut within a sign leaves nothing of it.
    [`x${'\u{1F600}'.repeat(15)}`, /^x(\u{1F600})+~/u],
    [`xx${'\u{1F600}'.repeat(15)}`, /^xx(\u{1F600})+~/u],
    [`xxx${'\u{1F600}'.repeat(15)}`, /^xxx(\u{1F600})+~/u],
  ])('of %s as much is in its name as fits', (name, shape) => {
    const room = left(name)
    const stream = room.desk.open()
    expect(room.added(room.ask(stream, 2, { fresh: true, room: name }))).toMatchObject({
      created: true,
    })
    const [aside] = names(room)
    expect(aside).toMatch(shape)
    expect(new TextEncoder().encode(aside!).length).toBeLessThanOrEqual(64)
  })

  test('it is kept for as long as it would have been', () => {
    const room = left()
    room.ask(room.desk.open(), 2, { fresh: true })
    room.desk.go(590_000)
    expect(names(room)).toContain(`main~${room.id}`)
    room.desk.go(30_000)
    expect(names(room)).not.toContain(`main~${room.id}`)
  })

  test('a hub that is killed knows it by its new name', () => {
    const room = left()
    room.ask(room.desk.open(), 2, { fresh: true })
    room.desk.restart()
    expect(names(room)).toEqual([`main~${room.id}`])
  })
})
