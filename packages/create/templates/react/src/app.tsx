import { type FormEvent, memo, useState } from 'react'
import type { PieceHandle } from 'holdfast'
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
import { name, room } from './player.ts'

type NoteHandle = PieceHandle<typeof Note.schema.fields>

export function App() {
  return (
    <main>
      <h1>Board</h1>
      <RoomProvider {...board} room={room} name={name} remember fallback={Waiting}>
        <Presence />
        <Columns />
      </RoomProvider>
    </main>
  )
}

/** While there is no session. */
function Waiting({ status, error, progress, retry }: Room) {
  if (status !== 'failed')
    return <p role="status">Joining: waiting for the {progress?.waitingFor ?? 'hub'}</p>
  return (
    <p role="alert">
      {error?.message} <button onClick={retry}>Try again</button>
    </p>
  )
}

function Presence() {
  const { status, reason, primary, retry } = useStatus()
  const me = useSession().me
  const members = useMembers()
  if (status === 'lost') {
    return (
      <p role="alert">
        {reason} <button onClick={retry}>Join again</button>
      </p>
    )
  }
  const who = primary?.inc === me.inc ? 'this window serves' : `${primary?.name ?? 'nobody'} serves`
  return (
    <p role="status">
      {status === 'live' ? who : 'reconnecting …'} ·{' '}
      {members.map((member) => member.name).join(', ')}
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
    const outcome = await act({ title: new FormData(form).get('title') as string })
    setRefusal(outcome.ok ? '' : outcome.reason)
    if (outcome.ok) form.reset()
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
