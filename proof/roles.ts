/**
 * Roles at every instant: who serves in which epoch, and what became of whom.
 *
 * This is looked at after each event of the world, and most events change no role. So a life in
 * which nothing differs from what was looked at last is passed over: looking again would add to
 * the account what is there already.
 */

import { type Account, count, tell, type Trial } from './diary.ts'
import { type Glance, type Life, serving } from './lives.ts'
import { sessionRules } from './twists.ts'

/** Looks at what must hold at every instant. @returns true, for use in a condition */
export function watch(trial: Trial): true {
  for (const life of trial.lives) {
    const own = life.node.alive() ? life.session?.member?.session : undefined
    if (!own) continue
    if (trial.plant) own.rules = sessionRules(trial.plant)
    if (isAsBefore(trial.account, life.glance, own)) continue
    const { id, me, server } = own
    life.glance = { own, role: server.role, epoch: server.epoch, id, me }
    look(trial, life, own)
  }
  return true
}

// Another life may have named another backup of the same session since the last look. So the backup
// is compared with the one that was written down last for the session.
function isAsBefore({ backups }: Account, last: Glance | null, own: Glance['own']): boolean {
  const { server, id } = own
  return (
    last !== null &&
    last.own === own &&
    last.role === server.role &&
    last.epoch === server.epoch &&
    last.id === id &&
    last.me === own.me &&
    (server.role !== 'backedup' || backups.get(id) === server.backup)
  )
}

function look(trial: Trial, life: Life, own: Glance['own']): void {
  const { account } = trial
  const { server } = own
  const { role } = server
  const before = account.roles.get(life)
  if (role !== before) {
    account.roles.set(life, role)
    changed(trial, life, before ?? 'idle', role)
  }
  const serves = serving(life)
  if (!serves) return
  life.served = true
  const key = `${serves.session} epoch ${serves.epoch}`
  const other = account.primaries.get(key)
  if (other === undefined) account.primaries.set(key, serves.inc)
  else if (other !== serves.inc) {
    account.wrong.add(`role.unique: ${other} and ${serves.inc} both served in ${key}`)
  }
  if (server.role !== 'backedup') return
  const { backup } = server
  const last = account.backups.get(serves.session)
  account.backups.set(serves.session, backup)
  if (last !== undefined && last !== backup) count(trial, 'backup replaced')
}

function changed(trial: Trial, life: Life, before: string, role: string): void {
  const own = life.session!.member!.session
  tell(trial, life.name, `(${own.me}) ${before} -> ${role}, epoch ${own.server.epoch}`)
  if (before === 'taking' && role === 'alone') count(trial, 'takeover')
  if (before === 'backup' && role === 'alone') count(trial, 'hand-over')
  if (before === 'gathering' && role === 'alone') count(trial, 'session recovered')
  if (before === 'dropping' && role === 'alone') count(trial, 'backup dropped')
  if (before === 'backedup' && role === 'idle') count(trial, 'primary deposed')
}
