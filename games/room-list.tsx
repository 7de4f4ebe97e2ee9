/** Rooms to go into, and a door into a new one. */

import type { ComponentChild } from 'preact'
import { useState } from 'preact/hooks'
import type { Entry } from './entries.ts'
import type { Known } from './listing.ts'
import { pickRoom } from './news.ts'
import { Share } from './share.tsx'

const STANDINGS: Readonly<Record<Entry['standing'], string>> = {
  open: 'open',
  full: 'full',
  unreachable: 'nobody answers',
}

/** Says that the hub is away, where it is. */
export function Trouble({ known }: { known: Known }): ComponentChild {
  return (
    <div role="status" aria-live="polite">
      {known.trouble && (
        <p class="trouble">
          <b>The hub does not answer.</b> The list below may be old. Trying again…{' '}
          <span class="fine">{known.trouble}</span>
        </p>
      )}
    </div>
  )
}

/** The way to rooms that are not shown yet, where there are any. */
export function More({ known, more }: { known: Known; more: () => void }): ComponentChild {
  if (!known.more) return null
  return (
    <p class="more">
      These are the fullest rooms. <button onClick={more}>Show more</button>
    </p>
  )
}

/** The rooms of a game. @param link  leads into one of them; null where no page is known */
export function Rooms(props: {
  entries: readonly Entry[]
  link: (entry: Entry) => string | null
  name?: (entry: Entry) => string
}): ComponentChild {
  const { entries, link, name = ({ room }) => room } = props
  return (
    <ul>
      {entries.map((entry) => (
        <li key={entry.session}>
          <span class="room">{name(entry)}</span>
          <span class={`standing ${entry.standing}`}>{STANDINGS[entry.standing]}</span>
          <span class="players" title={`epoch ${entry.epoch}`}>
            {entry.standing === 'unreachable' ? '' : `${entry.players} of ${entry.playersMax}`}
          </span>
          <Enter entry={entry} link={link(entry)} />
        </li>
      ))}
    </ul>
  )
}

function Enter({ entry, link }: { entry: Entry; link: string | null }): ComponentChild {
  if (link === null) return <span />
  if (entry.standing !== 'full') {
    return (
      <a class="button" href={link}>
        {entry.standing === 'unreachable' ? 'Restart' : 'Join'}
      </a>
    )
  }
  return (
    <span class="button off" aria-disabled="true">
      Full
    </span>
  )
}

/** A name for a room, and the way into it. @param about  the hub's `api/hub`, as for `Share` */
export function NewRoom(props: {
  link: (room: string) => string
  about?: string
  isThere: (room: string) => boolean
}): ComponentChild {
  const [typed, type] = useState('')
  const [suggested] = useState(() => pickRoom(Math.random()))
  const room = typed.trim() || suggested
  const start = (event: SubmitEvent): void => {
    event.preventDefault()
    location.assign(props.link(room))
  }
  return (
    <form class="new" onSubmit={start}>
      <label>
        Name your room, or take this name
        <input
          name="room"
          value={typed}
          placeholder={suggested}
          maxLength={16}
          spellcheck={false}
          autocomplete="off"
          onInput={(event) => type(event.currentTarget.value)}
        />
      </label>
      <button type="submit" class="main">
        {props.isThere(room) ? 'Join that room' : 'Start a new room'}
      </button>
      <Share link={props.link(room)} about={props.about} />
    </form>
  )
}
