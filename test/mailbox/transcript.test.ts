// Goal: what two mailboxes say and keep at each turn of a letter's trip is kept word for word.
// Method: the shipped mailbox on stores in memory; the test kills processes; UPDATE=1 rewrites.
import { test } from 'vitest'
import { readWhole } from '../standard/reader.ts'
import { compareTranscript, Script, standardOf } from '../transcript.ts'
import { exchange, OPEN_GATE, ownKey, Side } from './handshakes.ts'
import { Stage } from './stage.ts'
import { toHex } from '../../packages/holdfast/src/wire/bytes.ts'

function two(): Stage {
  const stage = new Stage()
  stage.open('ada')
  stage.open('bob')
  return stage
}

test('S2, S9, S11: letters, an answer, and acks that ride or go alone (AP-19)', () => {
  const stage = two()
  stage.script.scene('ada posts two letters before she has a connection')
  stage.post('ada', 'bob', 'hat')
  stage.post('ada', 'bob', 'tea?')
  stage.script.scene('bob is there, and answers: acks ride on the answer, and go alone')
  stage.connect('ada', 'bob')
  stage.pass(100)
  stage.script.scene('one more, and nothing to answer')
  stage.post('ada', 'bob', 'scarf')
  stage.pass(100)
  for (const [name, other] of [
    ['ada', 'bob'],
    ['bob', 'ada'],
  ] as const)
    stage.stands(name, other)
  compareTranscript('mailbox-letters', stage.script.lines)
})

test('S3, S15, S21: processes that die before and after a letter took effect (AP-19)', () => {
  const stage = two()
  stage.connect('ada', 'bob')
  stage.pass(50)
  stage.script.scene('bob dies while he handles a letter: nothing of that was, and it comes again')
  stage.dies('bob')
  stage.post('ada', 'bob', 'tea?')
  stage.pass(30)
  stage.connect('ada', 'bob')
  stage.pass(100)
  stage.script.scene('he dies when it has taken effect, and before his ack is out')
  stage.post('ada', 'bob', 'hat')
  stage.pass(10)
  stage.restart('bob')
  stage.connect('ada', 'bob')
  stage.pass(100)
  stage.script.scene('ada dies with a letter posted and not sent')
  stage.restart('ada')
  stage.post('ada', 'bob', 'scarf')
  stage.restart('ada')
  stage.connect('ada', 'bob')
  stage.pass(100)
  stage.script.scene('a batch comes twice: its letter is handled once')
  stage.twice()
  stage.post('ada', 'bob', 'milk?')
  stage.pass(100)
  compareTranscript('mailbox-restarts', stage.script.lines)
})

test('S21: a store that went back to an older day, and who goes on from it (AP-19)', () => {
  const stage = two()
  stage.connect('ada', 'bob')
  stage.post('ada', 'bob', 'hat')
  stage.pass(100)
  const older = stage.copy('bob')
  stage.post('ada', 'bob', 'scarf')
  stage.post('bob', 'ada', 'thanks')
  stage.pass(100)
  stage.script.lines.length = 0
  stage.script.scene('bob begins on the copy, which lacks the last letter of each')
  stage.restart('bob', older)
  stage.connect('ada', 'bob')
  stage.pass(50)
  stage.script.scene('letters rest')
  stage.post('ada', 'bob', 'glove')
  stage.pass(100)
  stage.script.scene('the owner of ada goes on from what bob has')
  stage.adopt('ada', 'bob')
  stage.restart('ada')
  stage.connect('ada', 'bob')
  stage.pass(100)
  stage.stands('ada', 'bob')
  stage.stands('bob', 'ada')
  compareTranscript('mailbox-older-store', stage.script.lines)
})

const STANDARD = standardOf()
const ADA = ownKey(1)
const BOB = [ownKey(3), ownKey(2)]
const NONCES = [1, 2].map((byte) => new Uint8Array(16).fill(byte))

/** Keys by their names, nonces by their byte, signatures by what they have to be. */
function shown(bytes: Uint8Array): string {
  const names = { A: ADA, 'B of now': BOB[0]!, 'B of before': BOB[1]!, C: ownKey(9) }
  const named = Object.entries(names).find(([, { key }]) => toHex(key) === toHex(bytes))
  if (named) return `"${named[0]}"`
  if (bytes.every((byte) => byte === 0)) return '-'
  return bytes.length === 64 ? '"…"' : `"${bytes[0]}"`
}

/** A greeting, message by message. @param knows  by which keys each knows the other */
function greets(
  script: Script,
  title: string,
  knows: { ada?: Uint8Array; bob?: Uint8Array },
  key = ADA,
): void {
  script.scene(title)
  const [byAda, byBob] = [knows.ada, knows.bob].map((known) => {
    return { ...OPEN_GATE, keyOf: () => known ?? null, strange: () => 'it has another key' }
  })
  const ada = new Side({ id: 'ada', keys: [key] }, 'bob', { gate: byAda!, nonce: NONCES[0]! })
  const bob = new Side({ id: 'bob', keys: BOB }, null, { gate: byBob!, nonce: NONCES[1]! })
  exchange(ada, bob, (bytes, _n, isCallers) => {
    const [from, to] = isCallers ? ['ada', 'bob'] : ['bob', 'ada']
    script.tell(0, from, `-> ${to}  ${script.brief(readWhole(STANDARD, 'MailGreeting', bytes))}`)
    return bytes
  })
  for (const [name, { known, refused }] of Object.entries({ ada, bob })) {
    const what = known ? `knows ${known.id} by ${shown(known.key)}` : `is told: ${refused}`
    script.tell(0, name, what)
  }
}

test('greetings: of two who never met, of two who know each other, and of others (MB-21)', () => {
  const script = new Script({ bytes: shown })
  const [now, before] = BOB.map(({ key }) => key)
  greets(script, 'ada calls bob, who never met', {})
  greets(script, 'they know each other', { ada: now!, bob: ADA.key })
  greets(script, 'bob has another key since', { ada: before!, bob: ADA.key })
  greets(script, 'somebody else calls as ada', { bob: ADA.key }, ownKey(9))
  greets(script, 'somebody else answers as bob', { ada: ownKey(9).key })
  compareTranscript('mailbox-greetings', script.lines)
})
