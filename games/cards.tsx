/** Cards that all games lay over their field: joining, why it failed, the end. */

import { HoldfastError, type Session } from 'holdfast'
import type { ComponentChild } from 'preact'
import { putOut } from './expel.tsx'
import { advice } from './news.ts'
import type { Player } from './player.ts'

/** What can be done when it is over here. */
export interface Returns {
  /** Joins again. */
  again(): void
  /** Joins as somebody new. */
  anew(): void
}

/** Joining takes a moment. */
export function Joining({ room, cancel }: { room: string; cancel: () => void }): ComponentChild {
  return (
    <section class="card" aria-busy="true">
      <h2>Joining…</h2>
      <p>
        Looking for the players of <b>{room}</b>.
      </p>
      <button type="button" onClick={cancel}>
        Cancel
      </button>
    </section>
  )
}

const HEADINGS: Readonly<Record<string, string>> = {
  full: 'This room is full',
  banned: 'You were banned here',
  forbidden: 'You were not let in',
}

/** Joining failed: why, and what can be done. */
export function Failed(props: {
  error: unknown
  again: () => void
  door: () => void
}): ComponentChild {
  const { error, again, door } = props
  const code = error instanceof HoldfastError ? error.code : 'unknown'
  const text = error instanceof Error ? error.message : String(error)
  return (
    <section class="card" role="alert">
      <h2>{HEADINGS[code] ?? 'That did not work'}</h2>
      <p>{advice(code)}</p>
      <p class="fine">
        {code}: {text}
      </p>
      <div class="row">
        <button type="button" class="main" onClick={again}>
          Try again
        </button>
        <button type="button" onClick={door}>
          Change the name
        </button>
        <a href="../">Lobby</a>
      </div>
    </section>
  )
}

/** It is over for this window, and why; null while it is not. */
export function over({ session, killed }: Player, acts: Returns): ComponentChild {
  const again = (): void => acts.again()
  if (killed) return <Dead again={again} />
  if (session.code === 'elsewhere') return <Elsewhere again={again} anew={() => acts.anew()} />
  if (session.status === 'lost') return <Lost session={session} again={again} />
  return null
}

// This window was killed.
function Dead({ again }: { again: () => void }): ComponentChild {
  return (
    <section class="card" role="alert">
      <h2>This window is dead</h2>
      <p>
        It was the server, and its wire was cut in the middle of everything. Look at the other
        windows: they go on.
      </p>
      <button type="button" class="main" onClick={again}>
        Join again
      </button>
    </section>
  )
}

// The session is lost for good.
function Lost({ session, again }: { session: Session; again: () => void }): ComponentChild {
  return (
    <section class="card" role="alert">
      <h2>{putOut(session) ?? 'The session is lost'}</h2>
      <p class="fine">{session.reason || 'Nobody could be reached.'}</p>
      <button type="button" class="main" onClick={again}>
        Join again
      </button>
    </section>
  )
}

// The same player came in by another window.
function Elsewhere(props: { again: () => void; anew: () => void }): ComponentChild {
  return (
    <section class="card" role="alert">
      <h2>You play elsewhere now</h2>
      <p>
        You came in from another window or device, and one player plays in one place. You can take
        the game back to this window; the other one stops then.
      </p>
      <div class="row">
        <button type="button" class="main" onClick={props.again}>
          Play here again
        </button>
        <button type="button" onClick={props.anew}>
          Join as somebody new
        </button>
        <a href="../">Lobby</a>
      </div>
    </section>
  )
}
