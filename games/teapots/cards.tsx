/** What lies over the table: the door with its glazes, and how to play. */

import type { ComponentChild } from 'preact'
import { Failed, Joining, over, type Returns } from '../cards.tsx'
import { DirectField, isToWatch, JoinOrWatch, NameField, nameIn } from '../door.tsx'
import { Invite } from '../invite.tsx'
import type { Links } from '../links.ts'
import { Share } from '../share.tsx'
import type { Play } from './play.ts'
import { GLAZES } from './rules/glazes.ts'

/** Where a window stands. */
export type Stage =
  | { kind: 'door' }
  | { kind: 'joining'; cancel: () => void }
  | { kind: 'failed'; error: unknown; watch: boolean }
  | { kind: 'in'; play: Play }

/** Who joins: what the door asks. */
export interface Guest {
  name: string
  glaze: number
}

/** What the cards can do. */
export interface Acts extends Returns {
  join(guest: Guest, watch: boolean): void
  door(): void
  /** Another glaze is tried on. */
  glaze(glaze: number): void
  sit(): void
}

/** The card for this stage; nothing while one plays in company. */
export function Card(props: {
  stage: Stage
  guest: Guest
  room: string
  links: Links
  acts: Acts
}): ComponentChild {
  const { stage, guest, acts, room } = props
  switch (stage.kind) {
    case 'door':
      return <Door guest={guest} room={room} acts={acts} />
    case 'joining':
      return <Joining room={room} cancel={stage.cancel} />
    case 'failed':
      return (
        <Failed
          error={stage.error}
          again={() => acts.join(guest, stage.watch)}
          door={() => acts.door()}
        />
      )
    case 'in':
      return <During play={stage.play} links={props.links} acts={acts} />
    default:
      return stage satisfies never
  }
}

function Door({ guest, room, acts }: { guest: Guest; room: string; acts: Acts }): ComponentChild {
  const submit = (event: SubmitEvent): void => {
    event.preventDefault()
    acts.join(guestOf(event.currentTarget as HTMLFormElement, guest), isToWatch(event))
  }
  return (
    <form class="card door" onSubmit={submit}>
      <p class="over">Dueling Teapots</p>
      <h2>Take a seat {room === 'main' ? 'at the table' : <At room={room} />}</h2>
      <NameField name={guest.name} />
      <DirectField />
      <Glazes chosen={guest.glaze} choose={(glaze) => acts.glaze(glaze)} />
      <JoinOrWatch />
      <Rules />
    </form>
  )
}

function At({ room }: { room: string }): ComponentChild {
  return (
    <>
      at <em>{room}</em>
    </>
  )
}

function guestOf(form: HTMLFormElement, before: Guest): Guest {
  const glaze = Number(new FormData(form).get('glaze') ?? before.glaze)
  return { name: nameIn(form, before.name), glaze }
}

function Glazes(props: { chosen: number; choose: (glaze: number) => void }): ComponentChild {
  return (
    <fieldset class="glazes">
      <legend>Your glaze</legend>
      {GLAZES.map(({ name, colour }, place) => (
        <label key={name} title={name} style={{ '--glaze': colour }}>
          <input
            type="radio"
            name="glaze"
            value={place}
            defaultChecked={place === props.chosen}
            onChange={() => props.choose(place)}
            aria-label={name}
          />
        </label>
      ))}
    </fieldset>
  )
}

function Rules(): ComponentChild {
  return (
    <p class="fine rules">
      Three hits topple a pot. A cube that bounces first is worth more. <kbd>WASD</kbd> or arrows
      glide, <kbd>space</kbd> or a click throws, the mouse aims.
    </p>
  )
}

function During({ play, links, acts }: { play: Play; links: Links; acts: Acts }): ComponentChild {
  const { session } = play
  const end = over(play, acts)
  if (end) return end
  if (!play.seat) return <Watching play={play} acts={acts} />
  if (session.members.length > 1 || session.status !== 'live') return null
  return (
    <section class="card aside alone">
      <h2>You have the table to yourself</h2>
      <p>Have some bots come, send somebody the link, or open a second window.</p>
      <Invite company={play.company} main />
      <Share link={links.share} />
      <a class="button" href={links.second} target="_blank" rel="noopener">
        Open a second window
      </a>
    </section>
  )
}

function Watching({ play, acts }: { play: Play; acts: Acts }): ComponentChild {
  const nobody = play.standings.length === 0
  return (
    <section class="card aside slim">
      <p>{nobody ? 'Nobody plays just now. You watch an empty table.' : 'You watch.'}</p>
      <button type="button" class="main" onClick={() => acts.sit()}>
        Take a pot
      </button>
    </section>
  )
}

/** Without WebGL there is no table to be seen. */
export function NoPicture(): ComponentChild {
  return (
    <section class="card" role="alert">
      <h2>This browser cannot draw the table</h2>
      <p>
        Dueling Teapots draws with WebGL, which is off or missing here. Turn on hardware
        acceleration in the browser’s settings, or try another browser.
      </p>
      <div class="row">
        <a class="button main" href="../dots/">
          Play Dots, which needs none
        </a>
        <a href="../">Lobby</a>
      </div>
    </section>
  )
}
