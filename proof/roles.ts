/**
 * Roles at every instant: who serves in which epoch, and what became of whom.
 *
 * This is looked at after each event of the world, and most events change no role. So a client in
 * which nothing differs from what was looked at last is passed over: looking again would add
 * what is there already.
 */

import { type Observations, count, trace, type Trial } from './trace.ts'
import { type Look, type Client, serving } from './clients.ts'
import { sessionRules } from './mutants.ts'

/** Looks at what must hold at every instant. @returns true, for use in a condition */
export function watch(trial: Trial): true {
  for (const client of trial.clients) {
    const own = client.node.alive() ? client.session?.member?.session : undefined
    if (!own) continue
    if (trial.bug) own.rules = sessionRules(trial.bug)
    if (isAsBefore(trial.observed, client.lastLook, own)) continue
    const { id, me, server } = own
    client.lastLook = { own, role: server.role, epoch: server.epoch, id, me }
    look(trial, client, own)
  }
  return true
}

// Another client may have named another backup of the same session since the last look. The backup
// is compared with the one that was written down last for the session.
function isAsBefore({ backups }: Observations, last: Look | null, own: Look['own']): boolean {
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

function look(trial: Trial, client: Client, own: Look['own']): void {
  const { observed } = trial
  const { server } = own
  const { role } = server
  const before = observed.roles.get(client)
  if (role !== before) {
    observed.roles.set(client, role)
    changed(trial, client, before ?? 'idle', role)
  }
  const serves = serving(client)
  if (!serves) return
  client.served = true
  const key = `${serves.session} epoch ${serves.epoch}`
  const other = observed.primaries.get(key)
  if (other === undefined) observed.primaries.set(key, serves.inc)
  else if (other !== serves.inc) {
    observed.wrong.add(`role.unique: ${other} and ${serves.inc} both served in ${key}`)
  }
  if (server.role !== 'backedup') return
  const { backup } = server
  const last = observed.backups.get(serves.session)
  observed.backups.set(serves.session, backup)
  if (last !== undefined && last !== backup) count(trial, 'backup replaced')
}

function changed(trial: Trial, client: Client, before: string, role: string): void {
  const own = client.session!.member!.session
  trace(trial, client.name, `(${own.me}) ${before} -> ${role}, epoch ${own.server.epoch}`)
  if (before === 'taking' && role === 'alone') count(trial, 'takeover')
  if (before === 'backup' && role === 'alone') count(trial, 'hand-over')
  if (before === 'gathering' && role === 'alone') count(trial, 'session recovered')
  if (before === 'dropping' && role === 'alone') count(trial, 'backup dropped')
  if (before === 'backedup' && role === 'idle') count(trial, 'primary deposed')
}
