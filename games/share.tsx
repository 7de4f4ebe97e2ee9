/** The link to a room, to be copied, also where the clipboard is not to be had. */

import { type ComponentChild, createRef } from 'preact'
import { useState } from 'preact/hooks'

/** A field with the link and a button that copies it. */
export function Share({ link }: { link: string }): ComponentChild {
  const field = createRef<HTMLInputElement>()
  const [said, say] = useState('Copy')
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(link)
      say('Copied')
    } catch {
      // Only secure pages have a clipboard: elsewhere the link is marked, to be copied by hand.
      field.current?.select()
      say('Press Ctrl+C')
    }
    setTimeout(() => say('Copy'), 2_000)
  }
  return (
    <div class="share">
      <input ref={field} readOnly value={link} aria-label="Link to this room" />
      <button type="button" onClick={() => void copy()} aria-live="polite">
        {said}
      </button>
    </div>
  )
}
