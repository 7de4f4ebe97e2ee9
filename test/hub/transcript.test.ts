// Goal: what a hub and those who ask it say, and what it keeps, is kept word for word.
// Method: the shipped hub with streams and a disk in hand; UPDATE=1 rewrites.
import { test } from 'vitest'
import { compareTranscript } from '../transcript.ts'
import { Stage } from './stage.ts'

// ada serves with bea for her backup, cy is there.
function three(): Stage {
  const stage = new Stage()
  stage.numbers('ada', 'bea', 'cy')
  for (const name of ['ada', 'bea', 'cy']) stage.opens(name)
  stage.adds('ada')
  stage.attaches('ada')
  stage.lists('ada', 'ada', 'bea', 'cy')
  for (const name of ['bea', 'cy']) stage.attaches(name)
  stage.changes('ada', { expect: 1, primary: 'ada', backup: 'bea', why: 'add' })
  stage.script.lines.length = 0
  return stage
}

test('T20, T22, T23: a session that is founded and found, and who comes in (AP-19)', () => {
  const stage = new Stage()
  stage.numbers('ada', 'bea')
  stage.script.scene('ada founds it: nobody hears of it before the disk has it')
  stage.opens('ada')
  stage.slow()
  stage.adds('ada')
  stage.disk()
  stage.attaches('ada')
  stage.script.scene('bea finds it, and asks who serves to let her in')
  stage.opens('bea')
  stage.adds('bea')
  stage.knocks('bea')
  stage.lists('ada', 'ada', 'bea')
  stage.answersCaller('ada', 'bea')
  stage.script.scene('she attaches, the second time with her own secret')
  stage.attaches('bea', 'ada')
  stage.attaches('bea')
  stage.script.scene('ada makes her the backup')
  stage.changes('ada', { expect: 1, primary: 'ada', backup: 'bea', why: 'add' })
  compareTranscript('directory-begins', stage.script.lines)
})

test('T23, T77: a takeover, and a compare-and-set that is lost (AP-19)', () => {
  const stage = three()
  const takeover = { expect: 2, primary: 'bea', backup: '', why: 'takeover' } as const
  stage.script.scene('bea wants to take over, and asks twice; ada lives, as cy may not say for her')
  stage.changes('bea', takeover)
  stage.changes('bea', takeover)
  stage.answers('ada', 'cy')
  stage.answers('ada')
  stage.relays('ada', 'bea')
  stage.script.scene('a second later she is silent; then she drops bea: one of them got its way')
  stage.go(1_000)
  stage.changes('bea', takeover)
  stage.go(250)
  stage.changes('ada', { expect: 2, primary: 'ada', backup: '', why: 'drop' })
  stage.script.scene('cy, who is no backup, wants to take over too; and ada still lists members')
  stage.changes('cy', { expect: 3, primary: 'cy', backup: '', why: 'takeover' })
  stage.lists('ada', 'ada')
  stage.script.scene(
    'while a change is on its way to the disk who asks waits, and no other is taken',
  )
  stage.slow()
  stage.changes('bea', { expect: 3, primary: 'bea', backup: 'cy', why: 'add' })
  stage.asks('ada')
  stage.changes('bea', { expect: 3, primary: 'bea', backup: 'ada', why: 'add' })
  stage.disk()
  stage.script.scene('the disk is full: nothing has changed')
  stage.slow()
  stage.changes('bea', { expect: 4, primary: 'bea', backup: '', why: 'drop' })
  stage.asks('cy')
  stage.disk('it is full')
  compareTranscript('directory-takeover', stage.script.lines)
})

test('T24, T25, T43: questions whether a primary lives, a restart, a recovery (AP-19)', () => {
  const stage = three()
  stage.script.scene('ada is asked whether she lives, and does')
  stage.pass(2_100)
  stage.lives('ada')
  stage.script.scene('the hub is killed: who comes back attaches anew, and is asked anew')
  stage.restart()
  for (const name of ['ada', 'cy']) {
    stage.opens(name)
    stage.attaches(name)
  }
  stage.pass(2_100)
  stage.lives('ada')
  stage.script.scene('ada dies, and bea did not come back: cy wants to recover it, too early')
  stage.dies('ada')
  stage.pass(14_000)
  stage.changes('cy', { expect: 2, primary: 'cy', backup: '', why: 'recover' })
  stage.script.scene('fifteen seconds after her last word')
  stage.pass(1_100)
  stage.changes('cy', { expect: 2, primary: 'cy', backup: '', why: 'recover' })
  stage.lists('cy', 'cy')
  stage.script.scene('cy ends it')
  stage.changes('cy', { expect: 3, primary: 'cy', backup: '', why: 'end' })
  stage.asks('cy')
  compareTranscript('directory-restart', stage.script.lines)
})
