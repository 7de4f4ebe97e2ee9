// Goal: what members say of objects at each turn of their lives is kept word for word.
// Method: the shipped part on states of the test, with its messages in hand; UPDATE=1 rewrites.
import { test } from 'vitest'
import { compareTranscript } from '../transcript.ts'
import { Stage, TYPE } from './stage.ts'

test('B12, B15: objects that are made and changed, and a newcomer (AP-19)', () => {
  const stage = new Stage()
  stage.script.scene('2 makes an object; 1, who leads, tells the others')
  const key = stage.create(2)
  stage.settle()
  stage.script.scene('2 changes it, and the packet is lost: both fields go with the next')
  stage.set(2, key, 5)
  stage.losesPacket(2, 1)
  stage.set(2, key, 6, 1)
  stage.settle()
  stage.script.scene('4 comes')
  stage.join(4)
  stage.settle()
  stage.looks(key)
  compareTranscript('objects-begin', stage.script.lines)
})

test('B38, B40: an object that changes hands while its owner changes it (AP-19)', () => {
  const stage = new Stage()
  const key = stage.create(2)
  stage.settle()
  stage.script.lines.length = 0
  stage.script.scene('2 changes it; before that comes 3 asks for it, and has it')
  stage.set(2, key, 5)
  const late = stage.packet(2, 1)
  stage.take(3, key)
  stage.carry(3, 1)
  late()
  stage.settle()
  stage.looks(key)
  stage.script.scene('2 and 1 want it at once')
  stage.take(2, key)
  stage.take(1, key)
  stage.settle()
  stage.looks(key)
  stage.script.scene('its owner gives it to 3')
  stage.give(1, key, 3)
  stage.settle()
  stage.looks(key)
  compareTranscript('objects-hands', stage.script.lines)
})

test('B29: an object whose owner is asked (AP-19)', () => {
  const stage = new Stage()
  const key = stage.create(2, TYPE.asked)
  stage.settle()
  stage.script.lines.length = 0
  stage.script.scene('3 asks, 1 asks while 2 thinks, and 2 says no')
  stage.take(3, key)
  stage.settle()
  stage.take(1, key)
  stage.answer(2, key, false)
  stage.settle()
  stage.script.scene('3 asks again, and 2 says yes')
  stage.take(3, key)
  stage.settle()
  stage.answer(2, key, true)
  stage.settle()
  stage.looks(key)
  compareTranscript('objects-asked', stage.script.lines)
})

test('B40, B49: an object that ends, and one whose owner goes (AP-19)', () => {
  const stage = new Stage()
  const [key, other] = [stage.create(2), stage.create(3)]
  stage.settle()
  stage.script.lines.length = 0
  stage.script.scene('3 asks for an object that 2 destroys')
  stage.take(3, key)
  stage.destroy(2, key)
  stage.carry(2, 1)
  stage.settle()
  stage.script.scene('3 dies: what it had is kept for its player, who comes back')
  stage.lose(3)
  stage.settle()
  stage.looks(other)
  stage.join(4, 3)
  stage.settle()
  stage.looks(other)
  stage.looks(key)
  stage.script.scene(
    '1 grants it to 2 and dies before that is heard: 2 leads, and decides about its own request',
  )
  stage.take(2, other)
  stage.carry(2, 1)
  stage.takeOver(2)
  stage.settle()
  stage.looks(other)
  compareTranscript('objects-end', stage.script.lines)
})
