// Goal: bots come when they are wanted, leave seats to people, and go with their player.
// Method: whole sessions in virtual time; bots that do nothing but be there.
import type { Session } from 'holdfast'
import { type SessionWorld, world } from 'holdfast/sim'
import { expect, test } from 'vitest'
import { botOf, type Bots } from './bot.ts'
import { Company } from './company.ts'

const SEATS = 5

interface Scene {
  w: SessionWorld
  ada: Session
  company: Company
}

/** A room of five seats, in which Ada is. @param fault  why the bots cannot be loaded */
async function scene(fault?: Error): Promise<Scene> {
  const w = world({ seed: 4, conditions: 'rtt=20' })
  const ada = await w.join({ game: 'dots', name: 'Ada', playersMax: SEATS })
  const nameOf = (index: number): string => `Bot ${index}`
  const bots: Bots = {
    nameOf,
    play: async ({ index, room, serves, signal }) =>
      botOf(await w.join({ game: 'dots', room, serves, signal, name: nameOf(index) }), []),
  }
  const load = (): Promise<Bots> => (fault ? Promise.reject(fault) : Promise.resolve(bots))
  const ground = { room: 'main', seats: SEATS, some: 3, load }
  return { w, ada, company: new Company(ada, ground, () => {}) }
}

function names({ ada }: Scene): string {
  return ada.members
    .map(({ name }) => name)
    .toSorted()
    .join()
}

async function are({ w, company, ada }: Scene, count: number): Promise<boolean> {
  const is = (): boolean => company.count === count && !company.comes
  await w.runUntil(() => is() && ada.members.length === 1 + count, 20_000)
  return is()
}

test('three come at once, each by a name of its own, and none serves; all go again (AP-24)', async () => {
  const made = await scene()
  made.company.toggle()
  expect(made.company.comes).toBe(true)
  expect(await are(made, 3)).toBe(true)
  expect(names(made)).toBe('Ada,Bot 1,Bot 2,Bot 3')
  await made.w.run(5_000)
  expect([made.ada.backup, made.ada.safety]).toEqual([null, 'kept'])
  made.company.toggle()
  expect(await are(made, 0)).toBe(true)
})

test('one more and one less, and who is sent away on the way in does not stay', async () => {
  const made = await scene()
  made.company.more(1)
  made.company.more(1)
  expect(await are(made, 2)).toBe(true)
  made.company.more(-1)
  expect(await are(made, 1)).toBe(true)
  made.company.more(1)
  made.company.toggle()
  expect(await are(made, 0)).toBe(true)
})

test('the last seat is for people: no bot takes it, and one goes when somebody has', async () => {
  const made = await scene()
  for (let i = 0; i < SEATS; i++) made.company.more(1)
  expect(await are(made, SEATS - 2)).toBe(true)
  expect(made.company.trouble).toMatch(/leave the last seat to people/)
  await made.w.join({ game: 'dots', name: 'Grace' })
  await made.w.runUntil(() => made.company.count === SEATS - 3, 20_000)
  await made.w.runUntil(() => made.ada.members.length === SEATS - 1, 20_000)
  expect(names(made)).toBe('Ada,Bot 1,Bot 2,Grace')
})

test('bots of two windows have names of their own', async () => {
  const made = await scene()
  await made.w.join({ game: 'dots', name: 'Bot 1' })
  made.company.more(1)
  await made.w.runUntil(() => made.ada.members.length === 3, 20_000)
  expect(names(made)).toBe('Ada,Bot 1,Bot 2')
})

test('they leave with their player, and why none came is said', async () => {
  const made = await scene()
  made.company.toggle()
  expect(await are(made, 3)).toBe(true)
  void made.ada.leave()
  await made.w.runUntil(() => made.ada.status === 'lost', 20_000)
  expect(made.company.count).toBe(0)

  const broken = await scene(new Error('no module'))
  broken.company.toggle()
  await expect.poll(() => broken.company.trouble).toMatch(/^No bot could come/)
  expect([broken.company.comes, broken.company.count]).toEqual([false, 0])
})
