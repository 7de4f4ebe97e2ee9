// Goal: how a link begins, goes another way and begins anew is kept word for word.
// Method: two members in virtual time, on ways that the test cuts; UPDATE=1 rewrites.
import { test } from 'vitest'
import { compareTranscript } from '../transcript.ts'
import { Stage } from './stage.ts'

test('greetings that are lost, and answered again (AP-19)', () => {
  const stage = new Stage()
  stage.script.scene('the first greeting is lost, so it goes all ways; then its answers are')
  stage.lose(1)
  stage.pass(110)
  stage.lose(2)
  stage.pass(390)
  compareTranscript('link-greetings', stage.script.lines)
})

test('a link that goes another way and comes back, and one that begins anew (AP-19)', () => {
  const stage = new Stage()
  stage.pass(500)
  stage.script.scene('the direct way is cut: after a second of silence packets go by the hub')
  stage.cut('sim', true)
  stage.pass(1_700)
  stage.script.scene('it leads there again: once it has answered for a second both come back')
  stage.cut('sim', false)
  stage.pass(2_500)
  stage.script.scene(
    '3 has lost its link, which 2 takes for sound: when 3 greets, both have a new one',
  )
  stage.forgets(3, 2)
  stage.pass(1_500)
  compareTranscript('link-ways', stage.script.lines)
})
