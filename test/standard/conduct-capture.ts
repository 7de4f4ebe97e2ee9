/**
 * Captures how players are put out, by a founder who does not serve and by votes, and how they are
 * invited.
 */

import type { Session } from '../../packages/holdfast/src/join/session.ts'
import { open, type Stage } from './capture.ts'
import type { Sent } from './ledger.ts'

async function three(stage: Stage, expellers: 'founder' | 'vote'): Promise<Session[]> {
  const all: Session[] = []
  for (const name of ['ada', 'bea', 'cy']) all.push(await stage.join(name, 'node', { expellers }))
  const safe = (): boolean => all.every((one) => one.safety === 'backed-up')
  await stage.until(
    'all are backed up',
    () => safe() && all.every((one) => one.members.length === 3),
  )
  return all
}

/** Plays it. @returns all that was sent and written, in order, in each of the rooms */
export async function captureConduct(): Promise<Sent[][]> {
  return [await founding(open('star')), await voting(open('star')), await inviting(open('star'))]
}

async function inviting(stage: Stage): Promise<Sent[]> {
  const ada = await stage.join('ada', 'node', { entry: 'invite' })
  await stage.sim.run(1_000)
  const made = await stage.settled(ada.invite())
  await stage.join('bea', 'node', { ticket: made.ok ? made.value : '' })
  return stage.sent
}

async function founding(stage: Stage): Promise<Sent[]> {
  const [ada, bea, cy] = (await three(stage, 'founder')) as [Session, Session, Session]
  ada.handOver()
  const moved = (one: Session): boolean => one.primary?.name === 'bea' && one.safety === 'backed-up'
  await stage.until('bea serves', () => [ada, bea].every(moved))
  await stage.settled(ada.ban(cy.me, 'caps lock'))
  await stage.until('cy is out', () => cy.status === 'lost')
  await stage.until('ada is safe again', () => ada.safety === 'backed-up')
  await stage.settled(ada.pardon(cy.me))
  return stage.sent
}

async function voting(stage: Stage): Promise<Sent[]> {
  const [ada, bea, cy] = (await three(stage, 'vote')) as [Session, Session, Session]
  for (const one of [bea, ada]) await stage.settled(one.vote(cy.me))
  await stage.until('cy is out', () => cy.status === 'lost')
  return stage.sent
}
