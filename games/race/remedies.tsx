/** The remedies that the source weighed and did not take, each with its bill for this picture. */

import type { ComponentChild } from 'preact'
import { useState } from 'preact/hooks'
import { type Costs, costs, RESEND_MS } from './rules/remedies.ts'
import type { Scenario, Wishes } from './rules/scenarios.ts'

/** See the head of this file. */
export function Remedies(props: { scenario: Scenario; wishes: Wishes }): ComponentChild {
  const { scenario, wishes } = props
  const bill = costs(scenario, wishes)
  return (
    <section class="remedies">
      <h2>What else could have been done</h2>
      <p>
        Four other remedies were weighed, and each would work. The figures are what each would have
        cost in exactly the picture above, had HOST told everybody: drag C, and they change.
      </p>
      <div class="cards">
        <GlobalOrder bill={bill} />
        <Handshake bill={bill} members={scenario.members.length} />
        <MessageAcks bill={bill} />
        <Queue bill={bill} />
      </div>
    </section>
  )
}

function GlobalOrder({ bill }: { bill: Costs }): ComponentChild {
  const [dies, die] = useState(false)
  return (
    <article>
      <h3>One order for all messages</h3>
      <p>
        What HOST says after it heard of C, nobody hears before C. The links, which knew nothing of
        each other, now wait for each other.
      </p>
      <label class="check">
        <input type="checkbox" checked={dies} onChange={(e) => die(e.currentTarget.checked)} />A
        dies before C has left for X
      </label>
      <p class="bill">{dies ? stuck(bill) : waiting(bill)}</p>
    </article>
  )
}

function waiting({ waits }: Costs): string {
  if (waits.length === 0) return 'Here: all come in order, so nothing waits.'
  return `Here: ${list(waits.map(({ name, ms }) => `${name} waits ${Math.round(ms)} ms`))}.`
}

function stuck({ stuck: { names, links } }: Costs): string {
  const ways = list(links.map((from) => `${from} to X`))
  return (
    `Here: C never comes, and ${list(names)} ${names.length > 1 ? 'wait' : 'waits'} for ever; so ` +
    `does whatever is sent behind, from ${ways}. One machine died, and ${links.length} healthy ` +
    `${links.length > 1 ? 'links stand' : 'link stands'} still.`
  )
}

function Handshake({ bill, members }: { bill: Costs; members: number }): ComponentChild {
  return (
    <article>
      <h3>A handshake</h3>
      <p>
        Everybody confirms that A is the owner no more; only then B begins. The slowest of all
        decides how long that takes, and who does not answer holds up everybody.
      </p>
      <p class="bill">
        Here: {bill.handshake} messages instead of {bill.holdfast} among {members}, and for{' '}
        {Math.round(bill.limboMs)} ms nobody may touch the object. With the fix: 0 ms.
      </p>
    </article>
  )
}

function MessageAcks({ bill }: { bill: Costs }): ComponentChild {
  const { resent, acks } = bill
  const times = resent === 1 ? 'once' : `${resent} times`
  return (
    <article>
      <h3>An ack for each message</h3>
      <p>
        X keeps its ack of M back until C is there, so HOST sends M again and again. But acks are of
        whole packets, which is a few bits in a header that travels anyway.
      </p>
      <p class="bill">
        Here: {acks} acks that were none before, and{' '}
        {resent === 0 ? 'nothing is sent again' : `something is sent again ${times}`}, at{' '}
        {RESEND_MS} ms between two tries.
      </p>
    </article>
  )
}

function Queue({ bill }: { bill: Costs }): ComponentChild {
  const longest = Math.round(Math.max(0, ...bill.waits.map(({ ms }) => ms)))
  const parked = `${bill.parked} parked at once, the longest ${longest} ms; if A dies, for ever.`
  return (
    <article>
      <h3>A queue that puts them in order</h3>
      <p>
        X parks what comes too early, and sorts it out when the rest is there. It must know of each
        kind what it waits for, and when to give up; each rule is a place for a bug.
      </p>
      <p class="bill">Here: {bill.parked === 0 ? 'nothing is parked.' : parked}</p>
    </article>
  )
}

function list(words: readonly string[]): string {
  if (words.length <= 1) return words.join('')
  return `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`
}
