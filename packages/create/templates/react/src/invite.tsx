import { useState } from 'react'
import { room } from './player.ts'

/** How long the button says that the link is copied, in milliseconds. */
const COPIED_MS = 2_000

/** The page's address, with the room and without the player's name. */
const link = new URL(location.href)
link.searchParams.delete('name')
link.searchParams.set('room', room)

/** Copies the link of the room, or shows it where there is no clipboard. */
export function Invite() {
  const [done, setDone] = useState<'nothing' | 'copied' | 'shown'>('nothing')
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(link.href)
      setDone('copied')
      setTimeout(() => setDone('nothing'), COPIED_MS)
    } catch {
      // Only https and localhost have one.
      setDone('shown')
    }
  }
  if (done === 'shown') {
    return <input readOnly value={link.href} aria-label="Invite link" ref={mark} />
  }
  return (
    <button aria-live="polite" onClick={() => void copy()}>
      {done === 'copied' ? 'Copied' : 'Copy invite link'}
    </button>
  )
}

function mark(field: HTMLInputElement | null): void {
  field?.focus()
  field?.select()
}
