/** What the doors of all games ask: the name of who comes in. */

import type { ComponentChild } from 'preact'
import { pickName } from './news.ts'
import { recall, remember } from './recall.ts'

/** Longest name that a door takes, in characters: 16 of the longest fit into 64 bytes. */
const NAME_MAX = 16
/** What a browser remembers it by. */
const DIRECT = 'direct'

/** Who a door takes one for: whoever is known to come, or came the last time, or anybody. */
export function firstName(known: string | null | undefined): string {
  return known || recall('name') || pickName(Math.random())
}

/** The field for the name. It is ready to be typed over, once, as the door opens. */
export function NameField({ name }: { name: string }): ComponentChild {
  return (
    <label>
      Your name
      <input
        name="name"
        defaultValue={name}
        maxLength={NAME_MAX}
        autocomplete="off"
        spellcheck={false}
        ref={begin}
      />
    </label>
  )
}

// The same function at every rendering, or the field would be selected again at each.
function begin(field: HTMLInputElement | null): void {
  if (document.activeElement !== document.body) return
  field?.focus()
  field?.select()
}

/**
 * Whether this browser may connect directly to those of the other players, which shows them its
 * network address. Asked before it does, and remembered.
 */
export function isDirect(): boolean {
  return recall(DIRECT) === 'yes'
}

/** The question. */
export function DirectField(): ComponentChild {
  return (
    <label
      class="check"
      title="Faster, and the game goes on while the hub is away. They learn your network address."
    >
      <input
        type="checkbox"
        defaultChecked={isDirect()}
        onChange={(event) => remember(DIRECT, event.currentTarget.checked ? 'yes' : '')}
      />
      Connect directly to players who allow it too: they see your network address
    </label>
  )
}

/** The name that a door was given. @param otherwise  where the field was left empty */
export function nameIn(form: HTMLFormElement, otherwise: string): string {
  const given = new FormData(form).get('name')
  const wanted = typeof given === 'string' ? given.trim() : ''
  return wanted === '' ? otherwise : wanted
}

/** Ways in: to play, and only to look on. */
export function JoinOrWatch(): ComponentChild {
  return (
    <div class="row">
      <button type="submit" class="main" value="play">
        Join
      </button>
      <button type="submit" value="watch">
        Only watch
      </button>
    </div>
  )
}

/** Whether the door was left by the way to look on. */
export function isToWatch({ submitter }: SubmitEvent): boolean {
  return (submitter as HTMLButtonElement | null)?.value === 'watch'
}
