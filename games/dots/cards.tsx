/** What lies over the field: the door, what all games say, and being alone. */

import type { ComponentChild } from 'preact'
import { Failed, Joining, over, type Returns } from '../cards.tsx'
import { DirectField, isToWatch, JoinOrWatch, NameField, nameIn } from '../door.tsx'
import { Invite } from '../invite.tsx'
import type { Links } from '../links.ts'
import { Share } from '../share.tsx'
import type { Play } from './play.ts'

/** Where a window stands. */
export type Stage =
  | { kind: 'door'; name: string }
  | { kind: 'joining'; name: string; cancel: () => void }
  | { kind: 'failed'; name: string; error: unknown; watch: boolean }
  | { kind: 'in'; play: Play }

/** What the cards can do. */
export interface Acts extends Returns {
  join(name: string, watch: boolean): void
  door(name: string): void
  /** From watching to playing. */
  comeIn(): void
}

/** The card for this stage; nothing while one plays in company. */
export function Card(props: {
  stage: Stage
  room: string
  links: Links
  acts: Acts
}): ComponentChild {
  const { stage, acts } = props
  switch (stage.kind) {
    case 'door':
      return <Door name={stage.name} room={props.room} acts={acts} />
    case 'joining':
      return <Joining room={props.room} cancel={stage.cancel} />
    case 'failed':
      return (
        <Failed
          error={stage.error}
          again={() => acts.join(stage.name, stage.watch)}
          door={() => acts.door(stage.name)}
        />
      )
    case 'in':
      return <During play={stage.play} links={props.links} acts={acts} />
    default:
      return stage satisfies never
  }
}

function Door({ name, room, acts }: { name: string; room: string; acts: Acts }): ComponentChild {
  const submit = (event: SubmitEvent): void => {
    event.preventDefault()
    acts.join(nameIn(event.currentTarget as HTMLFormElement, name), isToWatch(event))
  }
  return (
    <form class="card" onSubmit={submit}>
      <h2>Join {room === 'main' ? 'the room' : <em>{room}</em>}</h2>
      <NameField name={name} />
      <DirectField />
      <JoinOrWatch />
    </form>
  )
}

function During(props: { play: Play; links: Links; acts: Acts }): ComponentChild {
  const { play, links, acts } = props
  const end = over(play, acts)
  if (end) return end
  if (play.watching) return <Watching play={play} acts={acts} />
  if (play.session.members.length > 1 || play.session.status !== 'live') return null
  return (
    <section class="card aside alone">
      <h2>You are alone here</h2>
      <p>
        Have some bots come, send somebody the link, or open a second window: with two of you{' '}
        {play.demo ? 'kill the server' : 'close whichever window you like'}, and the game goes on.
      </p>
      <Invite company={play.company} main />
      <Share link={links.share} />
      <a class="button" href={links.second} target="_blank" rel="noopener">
        Open a second window
      </a>
    </section>
  )
}

function Watching({ play, acts }: { play: Play; acts: Acts }): ComponentChild {
  return (
    <section class="card aside slim">
      <p>You watch.</p>
      {!play.session.me.watches && (
        <button type="button" class="main" onClick={() => acts.comeIn()}>
          Join the others
        </button>
      )}
    </section>
  )
}
