/** The page of text.test.ts: an editor with the text of a room; the body says how it stands. */

import { keymap } from '@codemirror/view'
import { EditorView, minimalSetup } from 'codemirror'
import { yCollab, yUndoManagerKeymap } from 'y-codemirror.next'
import { UndoManager } from 'yjs'
import { join, type Session } from '../../packages/holdfast/src/browser.ts'
import { yDoc } from '../../packages/yjs/src/index.ts'

const asked = new URLSearchParams(location.search)
const room = asked.get('room') ?? 'main'
const name = asked.get('name') ?? 'nobody'
const Notes = yDoc('notes')

async function enter(): Promise<Session> {
  const token = sessionStorage.getItem(room) ?? undefined
  const session = await join({ game: 'text', room, name, types: [Notes], token })
  const remember = (): void => sessionStorage.setItem(room, session.token)
  session.on('members', remember)
  remember()
  return session
}

function edit(session: Session): void {
  const notes = session.part(Notes)
  const text = notes.doc.getText('page')
  notes.awareness.setLocalStateField('user', { name, color: '#3060a0', colorLight: '#3060a040' })
  // What is typed without an undo between is undone as one, however slowly it was typed.
  const undo = new UndoManager(text, { captureTimeout: Infinity })
  const shared = yCollab(text, notes.awareness, { undoManager: undo })
  const extensions = [keymap.of(yUndoManagerKeymap), minimalSetup, shared]
  const parent = document.querySelector('#page')!
  const editor = new EditorView({ doc: text.toJSON(), extensions, parent })
  const show = (): void => {
    const cursors = [...notes.awareness.getStates().values()].filter(({ cursor }) => cursor)
    const said = {
      status: notes.status,
      safety: session.safety,
      text: text.toJSON(),
      shown: editor.state.doc.toString(),
      members: session.members.length,
      primary: session.primary?.name,
      me: session.me.player,
      cursors: cursors.map(({ user }) => (user as { name: string }).name).toSorted(),
    }
    for (const [word, value] of Object.entries(said)) document.body.dataset[word] = String(value)
  }
  notes.on('status', show)
  notes.doc.on('afterAllTransactions', show)
  notes.awareness.on('change', show)
  for (const event of ['members', 'primary', 'safety'] as const) session.on(event, show)
  show()
}

void enter().then(edit)
