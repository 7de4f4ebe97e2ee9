/** Names of messages, what X believes, and what came of it all. */

import type { ComponentChild } from 'preact'
import { beliefs, type Verdict as Judged } from './rules/verdict.ts'
import type { Arrow, Picture } from './rules/picture.ts'

const HEADS: Readonly<Record<Judged['kind'], string>> = {
  well: 'All agree',
  luck: 'Well in the end, by luck',
  paradox: 'A paradox',
}

/** One sentence about how it ends; it is read out when it changes. */
export function Verdict({ verdict }: { verdict: Judged }): ComponentChild {
  return (
    <p class={`verdict ${verdict.kind}`} role="status" aria-live="polite">
      <b>{HEADS[verdict.kind]}</b> <span>{verdict.says}</span>
    </p>
  )
}

/** The name as the source writes it: letters below, and with the fix the version. */
export function nameParts({ name, message }: Arrow, fixed: boolean): [string, string] {
  const [letter = '', hands = ''] = name.split('_')
  return [letter, `${hands}${fixed ? `${hands && ' '}${message.count}` : ''}`]
}

/** What X believes after each message. */
export function Beliefs({ picture }: { picture: Picture }): ComponentChild {
  const rows = beliefs(picture)
  return (
    <section class="beliefs">
      <h2>What X believes</h2>
      <ol>
        {rows.map(({ name, from, took, why, now, misled }, place) => (
          <li key={name} class={misled ? 'misled' : ''}>
            <span class={`token of-${from}`}>
              <Token arrow={picture.arrows[place]!} fixed={picture.fixed} />
            </span>
            <span class="from">from {from}</span>
            <span class={took ? 'took' : 'ignored'}>
              {took ? 'taken' : 'ignored'}
              {why && <span class="why">: {why}</span>}
            </span>
            <span class="now">{now}</span>
          </li>
        ))}
      </ol>
    </section>
  )
}

function Token({ arrow, fixed }: { arrow: Arrow; fixed: boolean }): ComponentChild {
  const [letter, below] = nameParts(arrow, fixed)
  return (
    <>
      {letter}
      <sub>{below}</sub>
    </>
  )
}
