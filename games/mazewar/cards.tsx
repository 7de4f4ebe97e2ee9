/** What lies over the view: the door, help, what all games say, and being alone. */

import type { ComponentChild } from 'preact'
import { Failed, Joining, over, type Returns } from '../cards.tsx'
import { DirectField, NameField, nameIn } from '../door.tsx'
import { Invite } from '../invite.tsx'
import type { Links } from '../links.ts'
import { Share } from '../share.tsx'
import type { Controller } from './controller.ts'
import type { Play } from './play.ts'
import type { Practice } from './practice.ts'

/** Where a window stands. */
export type At =
  | { kind: 'door'; name: string }
  | { kind: 'joining'; name: string; cancel: () => void }
  | { kind: 'failed'; name: string; error: unknown; watch: boolean }
  | { kind: 'in'; play: Play }
  | { kind: 'practice'; practice: Practice; controller: Controller }

/** What the cards can do. */
export interface Acts extends Returns {
  join(name: string, watch: boolean): void
  door(name: string): void
  practise(name: string): void
  /** From watching to playing. */
  enter(): void
  help(open: boolean): void
}

/** The card for this stage; nothing while one plays in company. */
export function Card(props: { at: At; room: string; links: Links; acts: Acts }): ComponentChild {
  const { at, acts } = props
  switch (at.kind) {
    case 'door':
      return <Door name={at.name} room={props.room} acts={acts} />
    case 'joining':
      return <Joining room={props.room} cancel={at.cancel} />
    case 'failed':
      return (
        <Failed
          error={at.error}
          again={() => acts.join(at.name, at.watch)}
          door={() => acts.door(at.name)}
        />
      )
    case 'in':
      return <During play={at.play} links={props.links} acts={acts} />
    case 'practice':
      return null
    default:
      return at satisfies never
  }
}

function Door({ name, room, acts }: { name: string; room: string; acts: Acts }): ComponentChild {
  const submit = (event: SubmitEvent): void => {
    event.preventDefault()
    const how = (event.submitter as HTMLButtonElement | null)?.value
    const who = nameIn(event.currentTarget as HTMLFormElement, name)
    if (how === 'practice') acts.practise(who)
    else acts.join(who, how === 'watch')
  }
  return (
    <form class="card" onSubmit={submit}>
      <h2>Into the maze {room === 'main' ? '' : <em>{room}</em>}</h2>
      <p>
        You see down the corridors, and so do the others. Hit them before they hit you, and mind
        your back.
      </p>
      <NameField name={name} />
      <DirectField />
      <Ways />
    </form>
  )
}

function Ways(): ComponentChild {
  return (
    <div class="row">
      <button type="submit" class="main" value="play">
        Play
      </button>
      <button type="submit" value="watch">
        Watch
      </button>
      <button type="submit" value="practice" title="Against bots, in this window alone">
        Practise
      </button>
    </div>
  )
}

function During(props: { play: Play; links: Links; acts: Acts }): ComponentChild {
  const { play, links, acts } = props
  const end = over(play, acts)
  if (end) return end
  if (play.session.members.length > 1 || play.session.status !== 'live') return null
  return (
    <section class="card aside alone">
      <h2>Nobody else is in this maze</h2>
      <p>
        Have some bots come, send somebody the link, or open a{' '}
        <a href={links.second} target="_blank" rel="noopener">
          second window
        </a>
        .
      </p>
      <Invite company={play.company} main />
      <Share link={links.share} />
    </section>
  )
}

const KEYS: readonly (readonly [keys: readonly string[], what: string])[] = [
  [['↑', 'W'], 'a step ahead; hold it to run'],
  [['↓', 'S'], 'a step back'],
  [['←', '→', 'A', 'D'], 'a turn'],
  [['X'], 'turn round'],
  [['Space'], 'shoot: three at most are on their way'],
  [['Q', 'E'], 'peek round the next corner, left or right'],
  [['C'], 'cloak: nobody sees you, until you shoot'],
  [['M'], 'sound on and off'],
  [['H', '?'], 'this'],
]

/** How it is played. */
export function Help({ acts }: { acts: Acts }): ComponentChild {
  return (
    <section class="card help" role="dialog" aria-label="How it is played">
      <h2>How it is played</h2>
      <p>
        A hit is <b>+11</b>, a shot <b>−1</b>, being hit <b>−5</b>. A missile flies as fast as you
        run, to the next wall. Who is hit comes back somewhere else.
      </p>
      <dl>
        {KEYS.map(([keys, what]) => (
          <div key={what}>
            <dt>
              {keys.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <button type="button" class="main" onClick={() => acts.help(false)}>
        Back to the maze
      </button>
    </section>
  )
}
