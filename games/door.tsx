/** What the doors of all games ask: the name of who comes in. */

import type { ComponentChild } from 'preact'
import { pickName } from './news.ts'
import { recall } from './recall.ts'

/** Longest name that a door takes, in characters: 16 of the longest fit into 64 bytes. */
const NAME_MAX = 16

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
