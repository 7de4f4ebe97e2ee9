// Goal: names, faults and acks of a mailbox at their bounds.
// Method: the verbs by themselves.
import { expect, test } from 'vitest'
import { emptyContent, MailMemory } from '../../packages/mailbox/src/drivers/mail-memory.ts'
import * as mailbox from '../../packages/mailbox/src/machine/mailbox.ts'
import type { MailEvent, MailMessage } from '../../packages/mailbox/src/machine/mailbox.ts'
import { WINDOW_BYTES } from '../../packages/mailbox/src/machine/inbox.ts'
import { isMailId, MAIL_ID_MAX, plainBatch } from '../../packages/mailbox/src/machine/messages.ts'
import { sizeOf } from '../../packages/mailbox/src/machine/outbox.ts'
import type { MailChange } from '../../packages/holdfast/src/ports.ts'
import { NO_LIFE } from '../../packages/holdfast/src/wire/history.ts'
import { calmly } from '../calmly.ts'

const NOW = 1_000

function box() {
  const store = new MailMemory(emptyContent(), 'ada')
  const own = mailbox.create([], mailbox.LIMITS, NO_LIFE)
  const [changes, events, sent] = [[] as MailChange[], [] as MailEvent[], [] as MailMessage[]]
  const out = {
    record: (change: MailChange) => void changes.push(change),
    emit: (event: MailEvent) => void events.push(event),
    send: (_to: string, message: MailMessage) => void sent.push(message),
  }
  const hear = (message: MailMessage) =>
    calmly(() => mailbox.receive(own, NOW, 'bob', message, store, out))
  return { own, store, out, hear, changes, events, sent }
}

test.each([
  ['', false],
  ['a', true],
  ['é'.repeat(MAIL_ID_MAX / 2), true],
  [`${'é'.repeat(MAIL_ID_MAX / 2)}a`, false],
  ['a\u001bb', false],
])('the name %j is one: %s (PR-2)', (id, isOne) => {
  expect(isMailId(id)).toBe(isOne)
})

test('of nobody there is no letter to handle (PR-2)', () => {
  expect(calmly(() => mailbox.next(box().own, NOW, 'nobody'))).toBeNull()
})

test('a fault is told once, with a connection or without (PR-2)', () => {
  const { own, hear, events } = box()
  hear({ kind: 'fault', why: 'older' })
  hear({ kind: 'fault', why: 'older' })
  expect(events).toEqual([{ kind: 'fault', peer: 'bob', why: 'bob says: older' }])
  mailbox.connected(own, NOW, 'bob')
  hear({ kind: 'fault', why: 'older' })
  expect(own.peers.get('bob')!.link!.barred).toBe(true)
})

test('letters of a quarter of the window are acked at once, and of less a moment later (PR-2)', () => {
  for (const [less, isNow] of [
    [0, true],
    [1, false],
  ] as const) {
    const { own, out, hear } = box()
    mailbox.connected(own, NOW, 'bob')
    const whole = WINDOW_BYTES / 4 - less
    const bodies: Uint8Array[] = []
    for (let left = whole; left > 0;) {
      const size = Math.min(left, 60_000)
      bodies.push(new Uint8Array(size - sizeOf(new Uint8Array(0))))
      left -= size
    }
    for (const [at, body] of bodies.entries()) {
      hear(plainBatch([{ n: at + 1, body }], 0))
      mailbox.done(own, NOW, 'bob', out)
    }
    const { link } = own.peers.get('bob')!
    expect(link!.unacked).toBe(whole)
    expect(link!.ackDue <= NOW).toBe(isNow)
  }
})
