/**
 * The lobby: the games, each with the rooms that run and a button that leads into one, and below
 * them a form for a room of one's choice. The list comes from the hub's register every two
 * seconds; when the hub does not answer, the page says so and keeps showing what it knew.
 */

import { type ComponentChild, render } from 'preact'
import { useState } from 'preact/hooks'
import type { Entry } from './entries.ts'
import { type Game, type GameId, GAMES, isGame } from './games.ts'
import { isLocal } from './links.ts'
import { follow, NOTHING } from './listing.ts'
import { PICTURES, RacePicture } from './pictures.tsx'
import { pickRoom } from './news.ts'
import { pageOf } from './pages.ts'
import { More, NewRoom, Rooms, Trouble } from './room-list.tsx'

let known = NOTHING
const suggested = pickRoom(Math.random())

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
        <div class="games">
          {GAMES.map((game) => (
            <GameCard key={game.id} game={game} />
          ))}
        </div>
        <OwnRoom />
        {unlisted.length > 0 && <Others entries={unlisted} />}
        <More known={known} more={() => more()} />
        <RaceCard />
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

/** Into the room with most players that has a place, or else into a new one. */
function quickRoom(entries: readonly Entry[]): string {
  const open = entries.filter(({ standing }) => standing === 'open')
  return open.toSorted((a, b) => b.players - a.players)[0]?.room ?? suggested
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
        <div class="row">
          <a class="button main" href={linkTo(game.id, quickRoom(here))}>
            Play {game.title}
          </a>
          {game.alone && (
            <a class="button" href={`./${game.id}/?${game.alone.query}`}>
              {game.alone.text}
            </a>
          )}
        </div>
      </div>
      <section class="sessions" aria-label={`Sessions of ${game.title}`}>
        {here.length === 0 ? (
          <p class="empty">{known.asked ? 'Nobody plays just now.' : 'Asking…'}</p>
        ) : (
          <Rooms entries={here} link={({ room }) => linkTo(game.id, room)} />
        )}
      </section>
    </article>
  )
}

/** A room with a name of one's own, of any game. */
function OwnRoom(): ComponentChild {
  const [chosen, choose] = useState<string>(GAMES[0].id)
  const [isListed, list] = useState(true)
  return (
    <section class="own" aria-label="A room of your own">
      <h2>A room of your own</h2>
      <p>Choose game and name, and send the link: everybody who has it may join.</p>
      <div class="choice">
        <label>
          Game
          <select value={chosen} onChange={(event) => choose(event.currentTarget.value)}>
            {GAMES.map(({ id, title }) => (
              <option key={id} value={id}>
                {title}
              </option>
            ))}
          </select>
        </label>
        <label class="tick">
          <input
            type="checkbox"
            checked={isListed}
            onChange={(event) => list(event.currentTarget.checked)}
          />
          Show it in this list
        </label>
      </div>
      <NewRoom
        link={(room) => linkTo(chosen, room, isListed)}
        isThere={(room) => known.entries.some((one) => one.game === chosen && one.room === room)}
      />
      {isLocal(location.href) && <Near />}
    </section>
  )
}

// No game: nobody joins it, and it needs no hub.
function RaceCard(): ComponentChild {
  return (
    <article class="game wide">
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

function linkTo(game: string, room: string, isListed = true): string {
  const url = new URL(`./${game}/`, location.href)
  url.searchParams.set('room', room)
  if (!isListed) url.searchParams.set('unlisted', '')
  return url.href
}

function show(): void {
  render(<Lobby />, document.querySelector('#page')!)
}

const more = follow(new URL('./api/sessions', location.href), (now) => {
  known = now
  show()
})
