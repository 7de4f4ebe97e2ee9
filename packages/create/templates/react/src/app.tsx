import { type FormEvent, memo, useState } from 'react'
import type { PieceHandle } from 'holdfast'
import {
  type Room,
  RoomProvider,
  useAct,
  useAll,
  useField,
  usePiece,
  useSession,
} from 'holdfast/react'
import { add, board, COLUMNS, Note, remove } from './board.ts'
import { Invite } from './invite.tsx'
import { name, room, server } from './player.ts'
import { edit, Editors, Presence } from './presence.tsx'

type NoteHandle = PieceHandle<typeof Note.schema.fields>

export function App() {
  return (
    <main>
      <RoomProvider {...board} {...{ server, room, name }} remember fallback={Waiting}>
        <header>
          <h1>Board</h1>
          <Invite />
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
  const session = useSession()
  const { title, column } = usePiece(note)
  const field = useField(note, 'title')
  const discard = useAct(remove)
  const next = COLUMNS[(COLUMNS.indexOf(column) + 1) % COLUMNS.length]!
  return (
    <li>
      <input
        {...field}
        aria-label="Title"
        maxLength={120}
        onFocus={() => edit(session, note.id)}
        onBlur={() => {
          field.onBlur()
          edit(session, '')
        }}
      />
      <Editors note={note.id} />
      <button onClick={() => void note.update({ column: next })}>{next}</button>
      <button aria-label={`Remove ${title}`} onClick={() => void discard({ note: note.id })}>
        ×
      </button>
    </li>
  )
})
