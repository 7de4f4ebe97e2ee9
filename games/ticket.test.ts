// Goal: an invitation is read from the fragment of a link, and from nowhere else.
import { expect, test } from 'vitest'
import { ticketIn } from './ticket.ts'

test('a ticket stands in the fragment, beside other words or alone (SE-18)', () => {
  expect(ticketIn('#ticket=a.b.c')).toBe('a.b.c')
  expect(ticketIn('#as=x&ticket=a.b.c')).toBe('a.b.c')
  for (const none of ['', '#', '#ticket', '#as=x', 'ticket=a']) {
    expect(ticketIn(none) || undefined).toBeUndefined()
  }
})
