/**
 * The rooms of a hub that serves pages of somebody's own: which there are, and a door into a new
 * one. The hub says in which folders there are pages; rooms of a game are entered by the folder of
 * its name, or else by the start page, with `?room=` in the address.
 */

import { type ComponentChild, render } from 'preact'
import type { Entry } from '../entries.ts'
import { follow, NOTHING } from '../listing.ts'
import { More, NewRoom, Rooms, Trouble } from '../room-list.tsx'
import { startFor, startsOf } from './starts.ts'

// The start page's own folder is the hub's, so its links do not say where the hub is.
const ABOUT = new URL('../api/hub', location.href).href

let known = NOTHING
let starts: readonly string[] = []

function Page(): ComponentChild {
  const astray = known.entries.filter(({ game }) => startFor(starts, game) === null)
  return (
    <>
      <header class="head">
        <h1>Rooms</h1>
        <p>Who is here now, and a door into a room of your own.</p>
      </header>
      <main>
        <Trouble known={known} />
        {known.asked && starts.length === 0 && known.entries.length === 0 && (
          <p class="empty">
            Nobody is here just now. Pages of yours are served with <code>--pages</code>.
          </p>
        )}
        {starts.map((start) => (
          <Start key={start} start={start} />
        ))}
        {astray.length > 0 && (
          <section class="sessions" aria-label="Rooms without a page here">
            <h2>Rooms without a page here</h2>
            <Rooms entries={astray} link={() => null} name={fullName} />
          </section>
        )}
        <More known={known} more={() => more()} />
      </main>
    </>
  )
}

function Start({ start }: { start: string }): ComponentChild {
  const here = known.entries.filter(({ game }) => startFor(starts, game) === start)
  const title = start === '' ? location.host : start
  return (
    <article class="game">
      <div class="words">
        <h2>{title}</h2>
        <NewRoom
          link={(room) => linkTo(start, room)}
          about={ABOUT}
          isThere={(room) => here.some((entry) => entry.room === room)}
        />
      </div>
      <section class="sessions" aria-label={`Rooms of ${title}`}>
        <h3>Running now</h3>
        {here.length > 0 ? (
          <Rooms
            entries={here}
            link={({ room }) => linkTo(start, room)}
            name={start === '' ? fullName : undefined}
          />
        ) : (
          <p class="empty">{known.asked ? 'Nobody is here just now.' : 'Asking…'}</p>
        )}
      </section>
    </article>
  )
}

function fullName({ game, room }: Entry): string {
  return `${game}: ${room}`
}

function linkTo(start: string, room: string): string {
  const folder = start === '' ? '' : `${encodeURIComponent(start)}/`
  const url = new URL(`../${folder}`, location.href)
  url.searchParams.set('room', room)
  return url.href
}

function show(): void {
  render(<Page />, document.querySelector('#page')!)
}

async function askStarts(): Promise<void> {
  const answer = await fetch(ABOUT, { cache: 'no-store' })
  starts = startsOf(await answer.json())
  show()
}

const more = follow(new URL('../api/sessions', location.href), (now) => {
  known = now
  // Where the list of games could not be fetched, it is fetched again with the list of rooms.
  if (starts.length === 0) void askStarts().catch(() => {})
  show()
})
