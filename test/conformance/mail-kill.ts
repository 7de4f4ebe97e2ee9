/**
 * Two processes with mailboxes in files, killed at random moments, again and again; afterwards
 * their books are compared. New processes are started ahead, so that little time goes by.
 */

import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { dice } from './until.ts'

/** What is killed, and how often. */
export interface KillPlan {
  /** The script of one life, and the built door that it opens. */
  script: string
  door: string
  folder: string
  kills: number
  seed: number
  /** Hears of every kill. */
  progress?: ((kills: number) => void) | undefined
}

/** What was found. */
export interface Killed {
  /** What did not hold, a sentence each. */
  wrong: string[]
  letters: number
  answers: number
  /** How often a process died in the middle of a write, which was left out at opening. */
  torn: number
}

interface Opened {
  posted: number
  repaired: string | null
}

type Id = 'alice' | 'bob'

interface Life {
  child: ChildProcess
  /** The largest number whose post had returned. */
  durable: number
}

/** Processes that wait for their turn. */
const SPARES = 2

/** Kills, and compares. */
export async function killMailboxes(plan: KillPlan): Promise<Killed> {
  const spares: Promise<ChildProcess>[] = []
  const all = new Set<ChildProcess>()
  const spawn = (): Promise<ChildProcess> => {
    const child = fork(plan.script, [plan.door], { serialization: 'json' })
    all.add(child)
    child.once('exit', () => all.delete(child))
    return heard(child, 'loaded').then(() => child)
  }
  const take = (): Promise<ChildProcess> => {
    while (spares.length <= SPARES) spares.push(spawn())
    return spares.shift()!
  }
  try {
    return await run(plan, take)
  } finally {
    await Promise.allSettled(spares)
    for (const child of all) child.kill('SIGKILL')
  }
}

async function run(plan: KillPlan, take: () => Promise<ChildProcess>): Promise<Killed> {
  const random = dice(plan.seed)
  const port = await freePort()
  const found: Killed = { wrong: [], letters: 0, answers: 0, torn: 0 }
  const { wrong } = found
  const known: Record<Id, number> = { alice: 0, bob: 0 }
  const begin = async (id: Id): Promise<Life> => {
    const life: Life = { child: await take(), durable: known[id] }
    life.child.on('message', ({ durable }: { durable?: number }) => {
      if (durable !== undefined) life.durable = durable
    })
    life.child.send({ id, store: join(plan.folder, `${id}.db`), port })
    const { posted, repaired } = await heard<Opened>(life.child, 'open')
    if (posted < known[id]) wrong.push(`${id} had ${known[id]}, and opened with ${posted}`)
    if (repaired !== null) found.torn++
    known[id] = posted
    return life
  }
  const lives: Record<Id, Life> = { alice: await begin('alice'), bob: await begin('bob') }
  for (let kill = 1; kill <= plan.kills; kill++) {
    const id: Id = random.next() < 0.5 ? 'alice' : 'bob'
    const { child } = lives[id]
    const gone = once(child, 'exit')
    await took(child, random.below(12))
    spin(random.next())
    child.kill('SIGKILL')
    await gone
    known[id] = Math.max(known[id], lives[id].durable)
    lives[id] = await begin(id)
    plan.progress?.(kill)
  }
  return settle(lives, found)
}

/** Waits until that process has taken so many letters; what has none to take is full of them. */
async function took(child: ChildProcess, count: number): Promise<void> {
  for (let i = 0; i < count; i++) await heard(child, 'took')
}

/** No timer is exact below a millisecond, and a transaction takes less. */
function spin(ms: number): void {
  const until = performance.now() + ms
  while (performance.now() < until);
}

async function settle({ alice, bob }: Record<Id, Life>, found: Killed): Promise<Killed> {
  const { wrong } = found
  const told = heard<{ posted: number; answered: number; wrong: string | null }>(
    alice.child,
    'done',
  )
  alice.child.send({ stop: true })
  const { posted, answered, wrong: atAlice } = await told
  const counted = heard<{ count: number; wrong: string | null }>(bob.child, 'done')
  bob.child.send({ stop: true })
  const { count, wrong: atBob } = await counted
  if (count !== posted) wrong.push(`${posted} letters were posted, ${count} took effect`)
  if (answered !== posted) wrong.push(`${posted} letters were posted, ${answered} were answered`)
  for (const why of [atAlice, atBob]) if (why !== null) wrong.push(why)
  return { ...found, letters: posted, answers: answered }
}

/** The first message with that field. @throws Error if the process ends before */
function heard<Message>(child: ChildProcess, field: string): Promise<Message> {
  return new Promise((resolve, reject) => {
    const ended = (): void => reject(new Error(`a mailbox ended by itself before "${field}"`))
    const listen = (message: Record<string, unknown>): void => {
      if (!(field in message)) return
      child.off('message', listen)
      child.off('exit', ended)
      resolve(message as Message)
    }
    child.on('message', listen)
    child.once('exit', ended)
  })
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  return port
}
