/** Links to be copied, also where the clipboard is not to be had. */

import { type ComponentChild, createRef } from 'preact'
import { useState } from 'preact/hooks'
import { isLocal } from './links.ts'

/** A field with the link and a button that copies it. @param label  says what it is */
export function Share(props: { link: string; label?: string }): ComponentChild {
  const { link, label = 'Link to this room' } = props
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
      <input ref={field} readOnly value={link} aria-label={label} />
      <button type="button" onClick={() => void copy()} aria-live="polite">
        {said}
      </button>
      {isLocal(link) && <p class="fine">This link works on this machine only.</p>}
    </div>
  )
}

/** The link by which one plays on elsewhere. */
export function Personal({ link }: { link: string }): ComponentChild {
  return (
    <>
      <Share link={link} label="Your personal link" />
      <p class="fine">
        <b>Private:</b> whoever opens this link plays on as you, and this window stops. Open it
        where you want to go on.
      </p>
    </>
  )
}
