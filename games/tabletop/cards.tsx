/** What lies over the table: the door, the choice of a game, naming a suit, how it ended. */

import type { ComponentChild } from 'preact'
import { useState } from 'preact/hooks'
import { Failed, Joining, over, type Returns } from '../cards.tsx'
import { DirectField, isToWatch, JoinOrWatch, NameField, nameIn } from '../door.tsx'
import { Invite } from '../invite.tsx'
import { Share } from '../share.tsx'
import type { Links } from '../links.ts'
import { SuitSign } from './bar.tsx'
import type { Play } from './play.ts'
import { PROMOTIONS } from './rules/chess.ts'
import { CLOCKS } from './rules/clock.ts'
import { MATCH_POINTS } from './rules/eights.ts'
import { SUITS } from './rules/faces.ts'
import { CHESSMEN, KINDS } from './rules/men.ts'
import { named } from './rules/records.ts'
import { endOf, type Game, gameOf, GAMES, isDuel, scoreOf, seatsOf } from './rules/seats.ts'
import { ACTS } from './rules/things.ts'
import { TITLES } from './rules/words.ts'
import { Chessman } from './view/chessmen.tsx'

/** Where a window stands. */
export type Stage =
  | { kind: 'door' }
  | { kind: 'joining'; cancel: () => void }
  | { kind: 'failed'; error: unknown; watch: boolean }
  | { kind: 'in'; play: Play }

/** What the cards can do. */
export interface Acts extends Returns {
  join(name: string, watch: boolean): void
  door(): void
  /** Comes to the table, from watching. */
  sit(): void
  /** Another game is to be chosen, or no more. */
  choose(open: boolean): void
  /** How it ended has been read. */
  read(): void
}

/** What they show. */
export interface Shown {
  stage: Stage
  name: string
  room: string
  links: Links
  acts: Acts
  /** The choice of a game is open. */
  choosing: boolean
  /** How the game ended has been read. */
  isRead: boolean
}

/** The card for this stage; nothing while one plays. */
export function Card(props: Shown): ComponentChild {
  const { stage, acts, name } = props
  switch (stage.kind) {
    case 'door':
      return <Door {...props} />
    case 'joining':
      return <Joining room={props.room} cancel={stage.cancel} />
    case 'failed':
      return (
        <Failed
          error={stage.error}
          again={() => acts.join(name, stage.watch)}
          door={() => acts.door()}
        />
      )
    case 'in':
      return <During {...props} play={stage.play} />
    default:
      return stage satisfies never
  }
}

function Door({ name, room, acts }: Shown): ComponentChild {
  const submit = (event: SubmitEvent): void => {
    event.preventDefault()
    acts.join(nameIn(event.currentTarget as HTMLFormElement, name), isToWatch(event))
  }
  return (
    <form class="card" onSubmit={submit}>
      <h2>Come to {room === 'main' ? 'the table' : <em>{room}</em>}</h2>
      <NameField name={name} />
      <DirectField />
      <JoinOrWatch />
    </form>
  )
}

function During(props: Shown & { play: Play }): ComponentChild {
  const { play, acts } = props
  const end = over(play, acts)
  if (end) return end
  const game = gameOf(play.session.table)
  if (play.naming) return <Naming play={play} />
  if (play.promoting) return <Promoting play={play} {...play.promoting} />
  if (!game || props.choosing) return <Choice {...props} game={game} />
  const ending = endOf(play.session.table)
  if (ending && !props.isRead) return <Ended play={play} game={game} acts={acts} />
  if (play.watching) return <Watching acts={acts} />
  return null
}

function Choice(props: Shown & { play: Play; game: Game | null }): ComponentChild {
  const { play, acts, game } = props
  const [pace, setPace] = useState(0)
  const choose = (chosen: Game): void => {
    void play.act(ACTS.setUp, { game: chosen, clock: CLOCKS[chosen][pace] ?? 0 })
    acts.choose(false)
  }
  if (play.watching) return <Bare acts={acts} />
  return (
    <section class="card choice">
      <h2>{game ? 'Play something else?' : 'What shall we play?'}</h2>
      {game && <p>The table is cleared for it, for everybody.</p>}
      <div class="games">
        {GAMES.map((each) => (
          <button key={each} type="button" onClick={() => choose(each)}>
            <GameSign game={each} />
            <span>
              <b>{TITLES[each][0]}</b>
              <small>{TITLES[each][1]}</small>
            </span>
          </button>
        ))}
      </div>
      <Pace pace={pace} setPace={setPace} />
      {game && (
        <button type="button" onClick={() => acts.choose(false)}>
          Stay with {TITLES[game][0]}
        </button>
      )}
      {!game && <Alone play={play} links={props.links} />}
    </section>
  )
}

/** How fast it shall go; free tables have no clock. */
const PACES = [
  ['No clock', ''],
  ['Quick', 'Draughts: 3 minutes each. Chess: 5. Eights: 20 seconds a turn.'],
  ['Slow', 'Draughts: 10 minutes each. Chess: 15. Eights: a minute a turn.'],
] as const

function Pace(props: { pace: number; setPace: (pace: number) => void }): ComponentChild {
  const { pace, setPace } = props
  return (
    <fieldset class="pace">
      <legend>Clock</legend>
      {PACES.map(([title], at) => (
        <label key={title}>
          <input type="radio" name="pace" checked={at === pace} onChange={() => setPace(at)} />
          {title}
        </label>
      ))}
      <small>{PACES[pace]![1]}</small>
    </fieldset>
  )
}

// Nothing was chosen yet, and who watches does not choose.
function Bare({ acts }: { acts: Acts }): ComponentChild {
  return (
    <section class="card aside">
      <h2>Nothing is on the table yet</h2>
      <p>You watch. Somebody who plays chooses a game.</p>
      <button type="button" class="main" onClick={() => acts.sit()}>
        Come to the table
      </button>
    </section>
  )
}

// Before a game is chosen: whom to play with.
function Alone({ play, links }: { play: Play; links: Links }): ComponentChild {
  const { members } = play.session
  if (members.some(({ kind, inc }) => kind !== 'guest' && inc !== play.session.me.inc)) return null
  return (
    <>
      <p>You are alone here. Have a bot come, send somebody the link, or open a second window.</p>
      <Invite company={play.company} />
      <Share link={links.share} />
      <a class="button" href={links.second} target="_blank" rel="noopener">
        Open a second window
      </a>
    </>
  )
}

function GameSign({ game }: { game: Game }): ComponentChild {
  return (
    <svg viewBox="0 0 48 48" width="44" height="44" aria-hidden="true">
      {game === 'free' && (
        <>
          <rect x="6" y="9" width="19" height="27" rx="3" fill="#274472" stroke="#7fa8dc" />
          <rect x="17" y="13" width="19" height="27" rx="3" fill="#fdfbf5" />
          <path d="M26.5 21q5 6 0 12q-5 -6 0 -12z" fill="#c8283c" />
          <circle cx="39" cy="36" r="7" fill="url(#man-b)" stroke="#d9c6a2" />
        </>
      )}
      {game === 'draughts' && (
        <>
          <rect x="5" y="5" width="38" height="38" rx="4" fill="#e9d7b4" />
          <path d="M5 24V9a4 4 0 0 1 4-4H24V43H39a4 4 0 0 0 4-4V24Z" fill="#7b4a2a" />
          <circle cx="14.5" cy="14.5" r="7" fill="#2b2124" stroke="#0e0a0b" />
          <circle cx="33.5" cy="33.5" r="7" fill="#fbf1dd" stroke="#a88f62" />
        </>
      )}
      {game === 'chess' && (
        <>
          <rect x="5" y="5" width="38" height="38" rx="4" fill="#9c6b45" />
          <g transform="translate(24 24) scale(0.62)">
            <Chessman kind={2} white />
          </g>
        </>
      )}
      {game === 'eights' && <EightsSign />}
    </svg>
  )
}

function EightsSign(): ComponentChild {
  return (
    <>
      <g transform="rotate(-14 24 44)">
        <rect x="9" y="8" width="22" height="31" rx="3" fill="#fdfbf5" />
      </g>
      <g transform="rotate(9 24 44)">
        <rect x="16" y="7" width="22" height="31" rx="3" fill="#fdfbf5" stroke="#0003" />
        <text x="27" y="30" text-anchor="middle" class="index" font-size="23" fill="#c8283c">
          8
        </text>
      </g>
    </>
  )
}

function Naming({ play }: { play: Play }): ComponentChild {
  const thing = play.find(play.naming)
  const name = (suit: number): void => {
    if (thing?.kind === 'card') play.playCard(thing.handle, suit)
  }
  return (
    <section class="card naming" role="dialog" aria-label="Name a suit">
      <h2>Which suit must follow?</h2>
      <div class="suits">
        {SUITS.map((suit, number) => (
          <button key={suit} type="button" aria-label={suit} onClick={() => name(number)}>
            <SuitSign suit={number} />
          </button>
        ))}
      </div>
      <button type="button" onClick={() => play.keep()}>
        Keep the eight
      </button>
    </section>
  )
}

function Promoting(props: { play: Play; man: string; to: number }): ComponentChild {
  const { play, man, to } = props
  const thing = play.find(man)
  const white = thing?.kind === 'man' && thing.handle.state.white
  return (
    <section class="card naming" role="dialog" aria-label="Promote the pawn">
      <h2>What does the pawn become?</h2>
      <div class="suits">
        {PROMOTIONS.map((each) => (
          <button
            key={each}
            type="button"
            aria-label={CHESSMEN[KINDS.indexOf(each)]}
            onClick={() => play.hop(man, to, each)}
          >
            <svg viewBox="-32 -32 64 64" aria-hidden="true">
              <Chessman kind={KINDS.indexOf(each)} white={white} />
            </svg>
          </button>
        ))}
      </div>
      <button type="button" onClick={() => play.keep()}>
        Another move
      </button>
    </section>
  )
}

function Ended(props: { play: Play; game: Game; acts: Acts }): ComponentChild {
  const { play, game, acts } = props
  const { session } = play
  const { winner, text } = endOf(session.table)!
  const seats = seatsOf(session.table)
  const sits = seats.includes(session.me.player)
  const mine = winner === session.me.player
  const players = [...new Set(seats)].filter((player) => player !== 0)
  const again = isDuel(game) ? ACTS.again : ACTS.dealRound
  return (
    <section class="card aside ended" role="alert">
      <h2>{winner === 0 ? 'It is over' : mine ? 'You win!' : `${play.called(winner)} wins`}</h2>
      <p>{named(text, (player) => play.called(player))}</p>
      {game === 'eights' && (
        <ul class="points">
          {players.map((player) => (
            <li key={player}>
              {play.called(player)} <b>{scoreOf(session.table, player)}</b> of {MATCH_POINTS}
            </li>
          ))}
        </ul>
      )}
      <div class="row">
        {sits && (
          <button type="button" class="main" onClick={() => void play.act(again, null)}>
            {isDuel(game) ? 'Play again' : 'Deal again'}
          </button>
        )}
        <button type="button" onClick={() => acts.read()}>
          Look at the table
        </button>
      </div>
    </section>
  )
}

function Watching({ acts }: { acts: Acts }): ComponentChild {
  return (
    <section class="card aside slim">
      <p>You watch.</p>
      <button type="button" class="main" onClick={() => acts.sit()}>
        Come to the table
      </button>
    </section>
  )
}
