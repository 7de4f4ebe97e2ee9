/** The room and the player of the page's address, and what the page says of them. */

import { join, type JoinOptions, type Session } from 'holdfast'

const asked = new URLSearchParams(location.search)
const status = document.querySelector('#status')!

export const room = asked.get('room') ?? 'main'
/** At most 24 characters. */
export const name = (asked.get('name') || sessionStorage.getItem('name') || newName()).slice(0, 24)

function newName(): string {
  const made = `Player ${Math.floor(Math.random() * 900) + 100}`
  sessionStorage.setItem('name', made)
  return made
}

/** The colour of a player: another for each. */
export const colorOf = (player: number): string => `hsl(${(player * 137) % 360}, 75%, 70%)`

/** What is remembered of a room while the tab is open: a reload is the same player. */
export const tokenOf = (game: string): string | null => sessionStorage.getItem(`${game} ${room}`)

/** The hub is beside the page, also below a path such as `/rt/`. */
const server = new URL('./', location.href).href

/** Joins the room, and says in #status how that goes, and then who serves. */
export async function enter(options: JoinOptions): Promise<Session> {
  const session = await join({
    server,
    room,
    name,
    token: tokenOf(options.game) ?? undefined,
    onProgress: ({ waitingFor, leftMs }) => {
      const longest = leftMs === null ? '' : `, at most ${Math.ceil(leftMs / 1_000)} s`
      say(`Joining: waiting for the ${waitingFor}${longest} …`)
    },
    ...options,
  })
  const save = (): void => sessionStorage.setItem(`${options.game} ${room}`, session.token)
  session.on('members', save)
  save()
  report(session)
  return session
}

/** Shows a sentence above the game. @param tone  how it is coloured */
export function say(text: string, tone: 'plain' | 'good' | 'bad' = 'plain'): void {
  status.textContent = text
  status.className = tone
}

/** How long it is said that another server took over, in milliseconds. */
const NEWS_MS = 15_000

/** Says who serves, who would take over, and what happened when the server died. */
function report(session: Session): void {
  let { primary: before, backup } = session
  let news = ''
  const show = (): void => {
    if (session.status === 'lost') {
      return say(`The session is lost (${session.reason}): reload to join again`, 'bad')
    }
    if (session.hub === 'down') return say('The hub does not answer. Trying again …', 'bad')
    if (session.status !== 'live') return say('The server does not answer. Trying again …', 'bad')
    if (news !== '') return say(`${news}. ${roles(session)}`, 'good')
    say(roles(session))
  }
  session.on('primary', (next) => {
    // Only the backup had everything.
    const sure = next.inc === backup?.inc ? ', and nothing was lost' : ''
    if (before && before.inc !== next.inc) {
      const isHere = session.members.some(({ inc }) => inc === before?.inc)
      news = isHere ? `${before.name} handed over` : `${before.name} is gone${sure}`
    }
    before = next
    setTimeout(() => {
      news = ''
      show()
    }, NEWS_MS)
    show()
  })
  session.on('backup', (next) => {
    backup = next
    show()
  })
  session.on('status', show)
  session.on('hub', show)
  show()
}

function roles({ primary, backup, me }: Session): string {
  const nameOf = (member: typeof primary): string =>
    member?.inc === me.inc ? 'this window' : (member?.name ?? 'nobody, open a second window')
  return `Served by ${nameOf(primary)} · backup: ${nameOf(backup)}`
}
