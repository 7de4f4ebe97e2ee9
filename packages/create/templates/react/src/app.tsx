import { type FormEvent, memo, useEffect, useRef, useState } from 'react'
import type { MemberInfo, PieceHandle } from 'holdfast'
import {
  type Room,
  RoomProvider,
  useAct,
  useAll,
  useField,
  useMembers,
  usePiece,
  useSession,
  useStatus,
} from 'holdfast/react'
import { add, board, COLUMNS, Note, remove } from './board.ts'
import { name, room, server } from './player.ts'

type NoteHandle = PieceHandle<typeof Note.schema.fields>

export function App() {
  return (
    <main>
      <RoomProvider {...board} {...{ server, room, name }} remember fallback={Waiting}>
        <header>
          <h1>Board</h1>
          <Presence />
        </header>
        <Columns />
      </RoomProvider>
    </main>
  )
}

/** While there is no session. */
function Waiting({ status, error, progress, retry }: Room) {
  if (status !== 'failed') {
    const { waitingFor = 'hub', leftMs = null } = progress ?? {}
    const longest = leftMs === null ? '' : `, at most ${Math.ceil(leftMs / 1_000)} s`
    return (
      <p id="status" role="status">
        Joining: waiting for the {waitingFor + longest} …
      </p>
    )
  }
  return (
    <p id="status" className="bad" role="alert">
      {error?.message} <button onClick={retry}>Try again</button>
    </p>
  )
}

function Presence() {
  const { status, reason, hub, primary, backup, retry } = useStatus()
  const me = useSession().me
  const members = useMembers()
  const news = useNews(members)
  if (status === 'lost') {
    return (
      <p id="status" className="bad" role="alert">
        {reason} <button onClick={retry}>Join again</button>
      </p>
    )
  }
  const isWell = status === 'live' && hub === 'up'
  const nameOf = (member: MemberInfo | null): string =>
    member?.inc === me.inc ? 'this window' : (member?.name ?? 'nobody, open a second window')
  const roles = `Served by ${nameOf(primary)} · backup: ${nameOf(backup)}`
  return (
    <>
      <p id="status" className={isWell ? news && 'good' : 'bad'} role="status">
        {isWell ? news + roles : `The ${hub === 'up' ? 'server' : 'hub'} does not answer …`}
      </p>
      <p>Here: {members.map(({ name: who }) => who).join(', ')}</p>
    </>
  )
}

/** What happened when another member began to serve. */
function useNews(members: readonly MemberInfo[]): string {
  const { primary, backup } = useStatus()
  const before = useRef({ primary, backup })
  const [news, setNews] = useState('')
  useEffect(() => {
    const { primary: server, backup: next } = before.current
    before.current = { primary, backup }
    if (!server || !primary || server.inc === primary.inc) return
    // Only the backup had everything.
    const sure = next?.inc === primary.inc ? ', and nothing was lost' : ''
    const isHere = members.some(({ inc }) => inc === server.inc)
    setNews(isHere ? `${server.name} handed over. ` : `${server.name} is gone${sure}. `)
  }, [primary, backup, members])
  return news
}

function Columns() {
  const notes = useAll(Note)
  return (
    <>
      <NewNote />
      <div className="columns">
        {COLUMNS.map((column) => (
          <section key={column} aria-label={column}>
            <h2>{column}</h2>
            <ul>
              {notes
                .filter((note) => note.state.column === column)
                .map((note) => (
                  <Row key={note.id} note={note} />
                ))}
            </ul>
          </section>
        ))}
      </div>
      {notes.length === 0 && <p>No notes yet: write the first one.</p>}
    </>
  )
}

function NewNote() {
  const act = useAct(add)
  const [refusal, setRefusal] = useState('')
  const submit = async (event: FormEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault()
    const form = event.currentTarget
    const title = new FormData(form).get('title') as string
    // At once, for the next title may be typed before the outcome is here.
    form.reset()
    const outcome = await act({ title })
    setRefusal(outcome.ok ? '' : `${title}: ${outcome.reason}`)
  }
  return (
    <form onSubmit={(event) => void submit(event)}>
      <input name="title" aria-label="New note" placeholder="What is to be done?" maxLength={120} />
      <button>Add</button>
      {refusal && <span role="alert">{refusal}</span>}
    </form>
  )
}

const Row = memo(function Row({ note }: { note: NoteHandle }) {
  const { title, column } = usePiece(note)
  const discard = useAct(remove)
  const next = COLUMNS[(COLUMNS.indexOf(column) + 1) % COLUMNS.length]!
  return (
    <li>
      <input {...useField(note, 'title')} aria-label="Title" maxLength={120} />
      <button onClick={() => void note.update({ column: next })}>{next}</button>
      <button aria-label={`Remove ${title}`} onClick={() => void discard({ note: note.id })}>
        ×
      </button>
    </li>
  )
})
