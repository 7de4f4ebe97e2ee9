/** Links to be copied, also where the clipboard is not to be had. */

import { type ComponentChild, createRef } from 'preact'
import { useEffect, useMemo, useState } from 'preact/hooks'
import { encode } from 'uqr'
import { isLocal, linkForOthers } from './links.ts'

/**
 * A field with the link and a button that copies it.
 *
 * @param label  says what it is
 * @param about  the hub's `api/hub`; by default beside the folder that the link leads to
 */
export function Share(props: { link: string; label?: string; about?: string }): ComponentChild {
  const { label = 'Link to this room', about = new URL('../api/hub', props.link).href } = props
  const link = useLinkForOthers(props.link, about)
  const field = createRef<HTMLInputElement>()
  const [isSquare, setSquare] = useState(false)
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
      <button type="button" aria-pressed={isSquare} onClick={() => setSquare(!isSquare)}>
        QR
      </button>
      {isSquare && <Square link={link} />}
      {isLocal(link) && <p class="fine">This link works on this machine only.</p>}
    </div>
  )
}

// A page that was opened at an address of its own machine asks the hub for a better one.
function useLinkForOthers(link: string, about: string): string {
  const [found, find] = useState({ link, better: link })
  useEffect(() => {
    let isOver = false
    void linkForOthers(link, new URL(about)).then((better) => isOver || find({ link, better }))
    return () => void (isOver = true)
  }, [link, about])
  return found.link === link ? found.better : link
}

/** The link as squares, for the camera of a phone. */
function Square({ link }: { link: string }): ComponentChild {
  const { data, size } = useMemo(() => encode(link, { ecc: 'M', border: 2 }), [link])
  const dark = data.flatMap((row, y) => row.map((on, x) => (on ? `M${x} ${y}h1v1h-1z` : '')))
  return (
    <svg class="qr" viewBox={`0 0 ${size} ${size}`} role="img" aria-label="The link as a QR code">
      <rect width={size} height={size} fill="#fff" />
      <path d={dark.join('')} fill="#000" />
    </svg>
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
