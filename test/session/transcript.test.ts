// Goal: what members and hub say at each turn of a session is kept word for word.
// Method: the shipped sessions and the shipped register on a clock of the test; UPDATE=1 rewrites.
import { expect, test } from 'vitest'
import { remove } from '../../packages/holdfast/src/session/membership.ts'
import { handOver } from '../../packages/holdfast/src/session/session.ts'
import { compareTranscript } from '../transcript.ts'
import { Stage } from './stage.ts'

// a serves, b stands by, c is there.
function cluster(): Stage {
  const stage = new Stage()
  for (const name of ['a', 'b', 'c']) stage[name === 'a' ? 'found' : 'join'](name)
  stage.pass(500)
  stage.script.lines.length = 0
  return stage
}

/** What a scene is to end with, and what was said in it. */
function ends(stage: Stage, name: string, roles: Record<string, string>): void {
  const found = Object.keys(roles).map((one) => [one, stage.session(one).server.role])
  expect(Object.fromEntries(found)).toEqual(roles)
  compareTranscript(name, stage.script.lines)
}

test('T13, T15, T16: a founding, two who join, a backup that is added (AP-19)', () => {
  const stage = new Stage()
  stage.script.scene('a founds the session')
  stage.found('a')
  stage.script.scene('b joins, then c')
  stage.join('b')
  stage.join('c')
  stage.script.scene('b is asked to be the backup, and is')
  stage.pass(500)
  ends(stage, 'session-begins', { a: 'backedup', b: 'backup', c: 'idle' })
})

test('T35, T39, T41, T44: an operation, and a takeover before another has its answer (AP-19)', () => {
  const stage = cluster()
  stage.script.scene('c asks for an operation')
  stage.operate('c')
  stage.script.scene('a dies, c asks for another, b takes over, c is its backup')
  stage.kill('a')
  stage.operate('c')
  stage.pass(2_000)
  ends(stage, 'session-takeover', { b: 'backedup', c: 'backup' })
})

test('T4: a role that is handed over, and an operation of somebody who hears of it (AP-19)', () => {
  const stage = cluster()
  stage.script.scene('a hands over to b; c asks for an operation')
  stage.do('a', (own, out) => void handOver({ session: own, now: stage.now, out }, false))
  stage.operate('c')
  stage.pass(1_500)
  ends(stage, 'session-hand-over', { b: 'backedup' })
})

test('S-3b, S-5, T34: a backup that is removed comes back as the same player (AP-19)', () => {
  const stage = cluster()
  const before = stage.session('b')
  stage.script.scene('a removes b, which is its backup')
  stage.do('a', (own, out) => remove({ session: own, now: stage.now, out }, before.me, 'timeout'))
  stage.script.scene('it comes back')
  stage.join('d', before)
  stage.pass(500)
  expect(stage.session('d').player).toBe(before.player)
  ends(stage, 'session-return', { a: 'backedup', c: 'backup' })
})

test('T30, T43: server and backup die at once, and a member recovers the session (AP-19)', () => {
  const stage = cluster()
  stage.join('d')
  stage.operate('d')
  stage.script.scene('a and b die')
  stage.kill('a')
  stage.kill('b')
  stage.pass(20_000)
  ends(stage, 'session-recovery', { c: 'backedup', d: 'backup' })
})
