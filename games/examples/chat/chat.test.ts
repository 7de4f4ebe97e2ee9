// Goal: a chat room that its author brought keeps what was said, whatever dies.
// Method: whole sessions in virtual time with the doors that anybody has.
import { type Session, struct, text, u32 } from 'holdfast'
import { definePart } from 'holdfast/part'
import { type SessionWorld, world } from 'holdfast/sim'
import { describe, expect, test } from 'vitest'
import { chat, type Chat } from './chat.ts'

const Lobby = chat('lobby')
const talk = { game: 'talk', types: [Lobby] }

interface Room {
  w: SessionWorld
  all: Session[]
  chats: Chat[]
}

async function room(seed: number, count: number): Promise<Room> {
  const w = world({ seed, conditions: 'rtt=40,loss=3%' })
  const all: Session[] = []
  for (let i = 0; i < count; i++) all.push(await w.join({ ...talk, name: `P${i}` }))
  await w.runUntil(() => all.every(({ safety }) => safety !== 'waiting'), 10_000)
  await w.run(2_000)
  return { w, all, chats: all.map((session) => session.part(Lobby)) }
}

async function said(w: SessionWorld, saying: Promise<string>): Promise<string> {
  let why: string | null = null
  void saying.then((sentence) => (why = sentence))
  await w.runUntil(() => why !== null, 60_000)
  return why!
}

const texts = ({ lines }: Chat): string[] => lines.map((line) => line.text)

describe('a chat room of its own', () => {
  test('whoever comes later reads the lines from before, the last hundred (AP-19)', async () => {
    const { w, chats } = await room(1, 2)
    for (let i = 0; i < 103; i++) expect(await said(w, chats[i % 2]!.say(`line ${i}`))).toBe('')
    const late = (await w.join({ ...talk, name: 'Late' })).part(Lobby)
    expect(texts(late)).toHaveLength(100)
    expect(texts(late)[0]).toBe('line 3')
    expect(texts(late)).toEqual(texts(chats[0]!))
    expect(late.nameOf(late.lines[0]!)).toBe('P1')
  })

  test('a line survives the death of the server, and so does what was there (AP-19)', async () => {
    const { w, all, chats } = await room(2, 3)
    expect(await said(w, chats[1]!.say('before'))).toBe('')
    w.kill(all[0]!)
    const saying = chats[2]!.say('meanwhile')
    expect(await said(w, saying)).toBe('')
    await w.run(1_000)
    for (const one of chats.slice(1)) expect(texts(one)).toEqual(['before', 'meanwhile'])
    const late = (await w.join({ ...talk, name: 'Late' })).part(Lobby)
    expect(texts(late)).toEqual(['before', 'meanwhile'])
  })

  test.each([3, 4, 5, 6])(
    'a takeover doubles no line and loses none: seed %i (AP-19)',
    async (n) => {
      const { w, all, chats } = await room(n, 4)
      const sayings: Promise<string>[] = []
      for (let i = 0; i < 20; i++) {
        for (const one of chats.slice(1)) sayings.push(one.say(`${chats.indexOf(one)}.${i}`))
        if (i === 4) w.kill(all[0]!)
        await w.run(11 * n)
      }
      expect(
        await said(
          w,
          Promise.all(sayings).then((whys) => whys.join('')),
        ),
      ).toBe('')
      await w.run(2_000)
      for (const one of chats.slice(1)) {
        expect(new Set(texts(one)).size).toBe(60)
        expect(texts(one)).toEqual(texts(chats[1]!))
        expect(texts(one)).toHaveLength(60)
      }
    },
  )

  test('server and backup die at once: the others go on with what they read (AP-19)', async () => {
    const { w, all, chats } = await room(7, 4)
    expect(await said(w, chats[3]!.say('kept'))).toBe('')
    await w.run(1_000)
    w.kill(all[0]!)
    w.kill(all[1]!)
    expect(await said(w, chats[2]!.say('and on'))).toBe('')
    await w.run(1_000)
    for (const one of chats.slice(2)) expect(texts(one)).toEqual(['kept', 'and on'])
  })

  test('a line of 2,000 characters is refused with a sentence, an empty one too', async () => {
    const { w, chats } = await room(8, 2)
    const why = await said(w, chats[1]!.say('x'.repeat(2_000)))
    expect(why).toBe('a line has at most 1000 characters: 2000')
    expect(await said(w, chats[1]!.say('  '))).toBe('an empty line says nothing')
    expect(texts(chats[0]!)).toEqual([])
    expect(w.reported).toEqual([])
  })

  test('listeners hear once for all that came together', async () => {
    const { w, chats } = await room(9, 2)
    let heard = 0
    const stop = chats[0]!.subscribe(() => heard++)
    expect(await said(w, chats[0]!.say('one'))).toBe('')
    expect(heard).toBe(1)
    stop()
    expect(await said(w, chats[0]!.say('two'))).toBe('')
    expect(heard).toBe(1)
  })

  // The same to whoever compares types; but its author sends what they like.
  const forged = definePart({
    channel: 64,
    text: () => `chat ${struct({ by: u32, text: text(1_000) }).text} 100`,
    create: () => ({ nonsense: true }),
    perform: (_state, operation) => ({ changes: [operation, new Uint8Array(9_000).fill(255)] }),
    apply: () => {},
    snapshot: () => Uint8Array.of(255, 1, 2, 3),
    restore: () => ({ nonsense: true }),
    face: (host) => host,
  })('lobby')
  const nonsense = [[], [0], [255, 254], Array.from({ length: 2_000 }, (_, i) => i % 256)]

  test('bytes of a hostile member are no line, and nobody minds them (AP-19)', async () => {
    const { w, all, chats } = await room(10, 2)
    const stranger = (await w.join({ game: 'talk', name: 'Mallory', types: [forged] })).part(forged)
    for (const bytes of nonsense) {
      stranger.send('all', Uint8Array.from(bytes))
      await said(
        w,
        stranger.ask(Uint8Array.from(bytes)).then(({ ok }) => String(ok)),
      )
    }
    expect(all.map(({ status }) => status)).toEqual(['live', 'live'])
    // What is no UTF-8 is a line of signs for that; all have the same.
    expect(texts(chats[0]!)).toHaveLength(2)
    expect(texts(chats[1]!)).toEqual(texts(chats[0]!))
    expect(w.reported).toEqual([])
  })

  test('changes and snapshots of a hostile server are no lines either (AP-19)', async () => {
    const w = world({ seed: 11, conditions: 'rtt=40' })
    const server = (await w.join({ game: 'talk', name: 'Mallory', types: [forged] })).part(forged)
    const member = await w.join({ ...talk, name: 'P0' })
    await w.run(2_000)
    for (const bytes of nonsense) {
      await said(
        w,
        server.ask(Uint8Array.from(bytes)).then(({ ok }) => String(ok)),
      )
    }
    await w.run(1_000)
    expect(member.status).toBe('live')
    expect(member.part(Lobby).lines).toEqual([])
    expect(w.reported).toEqual([])
  })
})
