/** The button that brings bots into the room from this page, and sends them away again. */

import type { ComponentChild } from 'preact'
import type { Company } from './company.ts'

/** See the head of this file. @param main  what else there is to do matters less */
export function Invite(props: { company: Company | null; main?: boolean }): ComponentChild {
  const { company, main } = props
  if (!company) return null
  const { count, comes } = company
  const isIn = count > 0 || comes
  const label = comes ? 'Bots are coming: stop' : 'Send the bots away'
  return (
    <div class="invite">
      <div class="row">
        <button
          type="button"
          class={main && !isIn ? 'main' : ''}
          aria-busy={comes}
          onClick={() => company.toggle()}
        >
          {isIn ? label : 'Play with bots'}
        </button>
        {isIn && <More company={company} />}
      </div>
      <p class="fine" role="status">
        {company.trouble || company.idle || saying(company)}
      </p>
    </div>
  )
}

function More({ company }: { company: Company }): ComponentChild {
  const { count } = company
  return (
    <span class="more-bots">
      <button
        type="button"
        aria-label="One bot less"
        disabled={count === 0}
        onClick={() => company.more(-1)}
      >
        −
      </button>
      <output>
        {count} {count === 1 ? 'bot' : 'bots'}
      </output>
      <button
        type="button"
        aria-label="One bot more"
        disabled={!company.hasRoom}
        onClick={() => company.more(1)}
      >
        +
      </button>
    </span>
  )
}

function saying({ count }: Company): string {
  if (count === 0) return 'They come into this room from this window, and need nothing else.'
  return 'They play from this window and leave with it. None of them is ever the server or backup.'
}
