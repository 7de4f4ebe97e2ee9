/**
 * The lobby: the games, the sessions that run, and a door into a new one. The list comes from
 * the hub's register every two seconds; when the hub does not answer, the page says so and
 * keeps showing what it knew.
 */

import { type ComponentChild, render } from 'preact'
import type { Entry } from './entries.ts'
import { type Game, type GameId, GAMES, isGame } from './games.ts'
import { isLocal } from './links.ts'
import { follow, NOTHING } from './listing.ts'
import { PICTURES, RacePicture } from './pictures.tsx'
import { pageOf } from './pages.ts'
import { More, NewRoom, Rooms, Trouble } from './room-list.tsx'

let known = NOTHING

function Lobby(): ComponentChild {
  const unlisted = known.entries.filter(({ game }) => !isGame(game))
  return (
    <>
      <header class="head">
        <h1>Holdfast</h1>
        <p>
          Games without a server of their own: one of the players’ windows is the server, another
          has a copy of everything, and any one may die.
        </p>
      </header>
      <main>
        <Trouble known={known} />
        {GAMES.map((game) => (
          <GameCard key={game.id} game={game} />
        ))}
        <RaceCard />
        {isLocal(location.href) && <Near />}
        {unlisted.length > 0 && <Others entries={unlisted} />}
        <More known={known} more={() => more()} />
      </main>
    </>
  )
}

// Rooms of games that are none of ours, such as somebody's own program joins.
function Others({ entries }: { entries: readonly Entry[] }): ComponentChild {
  const isAstray = entries.some((entry) => pageOf(entry) === null)
  return (
    <article class="game">
      <section class="sessions" aria-label="Other games on this hub">
        <h2>Other games on this hub</h2>
        <Rooms entries={entries} link={pageOf} name={({ game, room }) => `${game}: ${room}`} />
        {isAstray && (
          <p class="fine">Where there is no button, this hub has no page for the game.</p>
        )}
      </section>
    </article>
  )
}

function GameCard({ game }: { game: Game & { id: GameId } }): ComponentChild {
  const here = known.entries.filter((entry) => entry.game === game.id)
  const Picture = PICTURES[game.id]
  return (
    <article class="game">
      <div class="picture">
        <Picture />
      </div>
      <div class="words">
        <h2>{game.title}</h2>
        <p>{game.about}</p>
        <NewRoom
          link={(room) => linkTo(game, room)}
          isThere={(room) => here.some((entry) => entry.room === room)}
        />
        {game.alone && (
          <p class="alone">
            <a href={`./${game.id}/?${game.alone.query}`}>{game.alone.text}</a>
          </p>
        )}
      </div>
      <section class="sessions" aria-label={`Sessions of ${game.title}`}>
        <h3>Running now</h3>
        {here.length === 0 ? (
          <Nobody />
        ) : (
          <Rooms entries={here} link={({ room }) => linkTo(game, room)} />
        )}
      </section>
    </article>
  )
}

// No game: nobody joins it, and it needs no hub.
function RaceCard(): ComponentChild {
  return (
    <article class="game">
      <div class="picture">
        <RacePicture />
      </div>
      <div class="words">
        <h2>How an object changes hands</h2>
        <p>
          Four machines, three messages, one paradox. Drag the messages into any order, and see what
          each machine believes, with and without the fix.
        </p>
        <p>
          <a class="button main" href="./race/">
            See the race
          </a>
        </p>
      </div>
    </article>
  )
}

function Nobody(): ComponentChild {
  const text = known.asked
    ? 'Nobody plays just now. Start a room: send the link, or play with bots.'
    : 'Asking…'
  return <p class="empty">{text}</p>
}

// Why links are good for this machine only, and what makes better ones.
function Near(): ComponentChild {
  return (
    <p class="fine">
      You opened this page at <b>{location.host}</b>, an address that means each machine itself:
      links from here work on this machine only. For others, have the hub listen on the network (
      <kbd>--host 0.0.0.0</kbd>), and open this page at an address by which they reach it.
    </p>
  )
}

function linkTo(game: Game, room: string): string {
  const url = new URL(`./${game.id}/`, location.href)
  url.searchParams.set('room', room)
  return url.href
}

function show(): void {
  render(<Lobby />, document.querySelector('#page')!)
}

const more = follow(new URL('./api/sessions', location.href), (now) => {
  known = now
  show()
})
