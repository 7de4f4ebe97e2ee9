// Goal: letters go over a session to the mailbox that a Node member offers, once and in order,
// whatever becomes of links, servers and processes (S4, S5, S10).
// Method: whole sessions in virtual time; stores of memory outlive the mailboxes on them.
import { afterEach, describe, expect, test } from 'vitest'
import { type Mailbox, openIn } from '../../packages/mailbox/src/mail-opening.ts'
import { emptyContent, MailMemory } from '../../packages/mailbox/src/drivers/mail-memory.ts'
import {
  HoldfastError,
  letters,
  offerMail,
  overSession,
  type Session,
} from '../../packages/holdfast/src/index.ts'
import { type SessionWorld, world } from '../../packages/sim/src/session-world.ts'
import { toyCurves } from '../../packages/sim/src/toy-ciphers.ts'

let boxes: Mailbox[] = []

afterEach(() => {
  // It ends with its world: no time passes there any more.
  for (const box of boxes) void box.close()
  boxes = []
})

async function mailbox(
  w: SessionWorld,
  id: string,
  content = emptyContent(),
  more = {},
): Promise<Mailbox> {
  const { loop } = w.sim.node(`box-${id}-${boxes.length}`)
  const connect = (): never => {
    throw new Error('no other way here')
  }
  const place = {
    loop,
    connect,
    curves: () => toyCurves,
    report: () => {},
    open: () => Promise.resolve(new MailMemory(content, id)),
    listen: null,
  }
  const box = await openIn(place, { id, store: 'kept', ...more })
  boxes.push(box)
  return box
}

interface Scene {
  w: SessionWorld
  first: Session
  host: Session
  player: Session
  bank: Mailbox
  got: unknown[]
}

async function scene(seed: number, conditions = 'rtt=20,loss=3%'): Promise<Scene> {
  const w = world({ seed, conditions })
  const wish = { game: 'bank', types: [letters] }
  // In a star, where the office is not the server: letters go by way of it.
  const first = await w.join({ ...wish, name: 'first' }, { name: 'first' })
  const host = await w.join({ ...wish, name: 'host' }, { name: 'host' })
  const player = await w.join({ ...wish, name: 'player' }, { name: 'player', kind: 'browser' })
  await w.runUntil(() => first.safety === 'backed-up' && player.members.length === 3, 20_000)
  const bank = await mailbox(w, 'bank')
  const got: unknown[] = []
  bank.on('letter', (tx, from, body) => {
    got.push(body)
    tx.post(from, { had: body })
  })
  offerMail(host, bank)
  return { w, first, host, player, bank, got }
}

/** What a promise gives, while time passes. */
async function during<Value>(w: SessionWorld, promise: Promise<Value>): Promise<Value> {
  let isDone = false
  void promise.finally(() => (isDone = true))
  await w.runUntil(() => isDone, 30_000)
  return promise
}

describe('mail over a session', () => {
  test('S4, S5: letters reach the mailbox that is offered, and its answers come back', async () => {
    const { w, player, got } = await scene(1)
    const alice = await mailbox(w, 'alice')
    const answers: unknown[] = []
    alice.on('letter', (_tx, _from, body) => void answers.push(body))
    alice.connect('bank', overSession(player))
    const long = 'x'.repeat(40_000)
    void alice.to('bank').post(1)
    void alice.to('bank').post(long)
    await w.runUntil(() => answers.length === 2, 30_000)
    expect(got).toEqual([1, long])
    expect(answers).toEqual([{ had: 1 }, { had: long }])
  })

  test('S10: over the death of the server and a process that comes back, each once', async () => {
    const { w, first, player, got, bank } = await scene(2)
    const kept = emptyContent()
    let alice = await mailbox(w, 'alice', kept)
    alice.connect('bank', overSession(player))
    for (let n = 0; n < 20; n++) void alice.to('bank').post(n)
    await w.runUntil(() => got.length > 3, 30_000)
    // Through which all went.
    w.kill(first)
    for (let n = 20; n < 30; n++) void alice.to('bank').post(n)
    await w.runUntil(() => bank.query('alice') === 30, 60_000)
    void alice.close()
    await w.run(500)
    alice = await mailbox(w, 'alice', kept)
    alice.connect('bank', overSession(player))
    for (let n = 30; n < 40; n++) void alice.to('bank').post(n)
    await w.runUntil(() => bank.query('alice') === 40, 60_000)
    expect(got).toEqual(Array.from({ length: 40 }, (_, n) => n))
  })

  test('over a session one greets as over a socket: another key is refused, a new one followed (MB-21)', async () => {
    const { w, player, bank, got } = await scene(6, 'rtt=20')
    const alice = await mailbox(w, 'alice')
    alice.connect('bank', overSession(player))
    void alice.to('bank').post(1)
    await w.runUntil(() => alice.peer('bank').key !== null, 30_000)
    expect([bank.peer('alice').key, alice.peer('bank').key]).toEqual([alice.key, bank.key])
    const key = await during(w, alice.replaceKey())
    void alice.to('bank').post(2)
    await w.runUntil(() => got.length === 2 && bank.peer('alice').key === key, 30_000)
    void alice.close()
    const stranger = await mailbox(w, 'alice')
    const why: string[] = []
    stranger.on('disconnected', (event) => why.push(event.why))
    void stranger.to('bank').post('steal')
    stranger.connect('bank', overSession(player))
    await w.runUntil(() => why.some((one) => one.includes('another key')), 30_000)
    expect(got).toEqual([1, 2])
  })

  test('who dials what nobody offers waits, and is told why', async () => {
    const { w, host, player, got } = await scene(3, 'rtt=20')
    const alice = await mailbox(w, 'alice')
    const troubles: string[] = []
    alice.on('disconnected', ({ why }) => void troubles.push(why))
    alice.connect('post', overSession(player))
    void alice.to('post').post('later')
    await w.run(3_000)
    expect(troubles[0]).toContain('no Node member of the session offers the mailbox "post"')
    const post = await mailbox(w, 'post')
    post.on('letter', (_tx, _from, body) => void got.push(body))
    offerMail(host, post)
    await w.runUntil(() => got.length === 1, 20_000)
    expect(got).toEqual(['later'])
  })

  test('a page offers none, nor does a guest or a mailbox in memory', async () => {
    const { w, host, player, bank } = await scene(4, 'rtt=20')
    expect(() => offerMail(player, bank)).toThrow(/a page cannot offer/)
    const wish = { game: 'bank', types: [letters], serves: false }
    const guest = await w.join({ ...wish, name: 'guest' }, { name: 'guest' })
    expect(() => offerMail(guest, bank)).toThrow(/a guest cannot offer/)
    const fleeting = await mailbox(w, 'fleeting', emptyContent(), { store: null })
    expect(() => offerMail(host, fleeting)).toThrow(HoldfastError)
  })

  test('S10: a stream that lacks a word ends: the mailboxes begin anew and no letter is cut', async () => {
    const { w, host, player, got } = await scene(5, 'rtt=20')
    const office = player.members.find(({ inc }) => inc === host.me.inc)!
    const stream = `${player.me.inc}.9`
    const said: unknown[] = []
    const say = async (what: 'open' | 'say', n: number, text: string): Promise<void> => {
      const before = said.length
      player.call(office, letters, { what, stream, n, more: true, text }).then(
        (answer) => said.push(answer.ok && answer.value),
        (error: Error) => said.push(error.message),
      )
      await w.runUntil(() => said.length > before, 5_000)
    }
    await say('open', 0, 'bank')
    await say('say', 1, btoa('one'))
    await say('say', 3, btoa('three'))
    await say('say', 2, btoa('two'))
    expect(said).toEqual([true, true, false, false])
    expect(got).toEqual([])
  })

  test('no word of a member is a mistake of who hears it, however it is made', async () => {
    const { w, host, player } = await scene(4)
    const errors: unknown[] = []
    host.on('error', (error) => errors.push(error))
    const say = { what: 'say', stream: 'x.1', n: 1, more: false, text: 'AAAA' }
    const words = [
      null,
      7,
      {},
      { what: 'open' },
      say,
      { ...say, what: 'close' },
      { ...say, text: '%' },
      { ...say, what: 'open', stream: `${player.me.inc}.9`, text: 'nobody' },
      // Named as the other's own would be.
      { ...say, what: 'open', stream: `${host.me.inc}.1`, text: 'bank' },
      { ...say, what: 'open', stream: `${player.me.inc}.10`, text: 'bank' },
      { ...say, stream: `${player.me.inc}.10`, text: '%' },
    ]
    const target = player.members.find(({ inc }) => inc === host.me.inc)!
    const answers: unknown[] = []
    for (const word of words) {
      player.note(target, letters, word as never)
      const asked = player.call(target, letters, word as never)
      void asked.then((answer) => answers.push(answer.ok && answer.value))
      const count = answers.length + 1
      await w.runUntil(() => answers.length === count, 20_000)
    }
    const yes = answers.flatMap((answer, at) => (answer === true ? [at] : []))
    expect([answers.length, yes]).toEqual([words.length, [5, 9]])
    expect(errors).toEqual([])
  })
})
