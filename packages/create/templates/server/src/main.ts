/** The page: logs in where it must, and shows the chat of the room of its address. */

import type { HoldfastError, Session } from 'holdfast'
import { chat, Message, say as sayIt } from './chat.ts'
import { openInvite } from './invite.ts'
import { colorOf, enter, name as otherName, room, say, tokenOf } from './room.ts'

const part = <E extends HTMLElement>(id: string): E => document.querySelector<E>(`#${id}`)!
const login = part<HTMLFormElement>('login')
const form = part<HTMLFormElement>('say')
const messages = part('messages')
const knownName = sessionStorage.getItem('logged in as') ?? otherName

/** Asks the server for a ticket. @throws Error with what the server said */
async function askTicket(password: string): Promise<string> {
  const answer = await fetch('api/login', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ password, room }),
  })
  const { ticket, error } = (await answer.json()) as { ticket?: string; error?: string }
  if (ticket === undefined) throw new Error(error)
  return ticket
}

function showLogin(): void {
  login.hidden = false
  login.querySelector('input')!.value = knownName
  login.querySelector<HTMLInputElement>('[type=password]')!.focus()
}

login.addEventListener('submit', (event) => {
  event.preventDefault()
  const given = new FormData(login)
  const name = given.get('name') as string
  sessionStorage.setItem('logged in as', name)
  askTicket(given.get('password') as string)
    .then((ticket) => enter({ ...chat, name, ticket }))
    .then((session) => show(session, name))
    .catch((error: Error) => say(error.message, 'bad'))
})

function show(session: Session, name: string): void {
  login.hidden = true
  part('room').hidden = false
  const showMembers = (): void => {
    part('members').replaceChildren(
      ...session.members.map((member) => line('li', member.name, member.player)),
    )
  }
  const showMessages = (): void => {
    messages.replaceChildren(
      ...session.all(Message).map(({ state }) => {
        const row = document.createElement('li')
        row.append(line('b', state.name, state.player), ` ${state.words}`)
        return row
      }),
    )
    messages.scrollTop = messages.scrollHeight
  }
  session.on('members', showMembers)
  session.all(Message).subscribe(showMessages)
  showMembers()
  showMessages()
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    const words = new FormData(form).get('words') as string
    form.reset()
    session.act(sayIt, { name, words }).then(
      (outcome) => outcome.ok || say(outcome.reason, 'bad'),
      (error: Error) => say(error.message, 'bad'),
    )
  })
  form.querySelector('input')!.focus()
}

function line(tag: string, text: string, player: number): HTMLElement {
  const made = document.createElement(tag)
  made.textContent = text
  made.style.color = colorOf(player)
  return made
}

openInvite()

// Who was here in this tab needs no ticket, as long as the room remembers the player.
if (tokenOf(chat.game) === null) showLogin()
else {
  enter({ ...chat, name: knownName }).then(
    (session) => show(session, knownName),
    (error: HoldfastError) => {
      say(error.message, 'bad')
      showLogin()
    },
  )
}
