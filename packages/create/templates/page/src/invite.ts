/** The button that copies the link of the room. */

import { room } from './room.ts'

/** How long the button says that the link is copied, in milliseconds. */
const COPIED_MS = 2_000

/** Has #invite copy the page's address, with the room and without the player's name. */
export function openInvite(): void {
  const button = document.querySelector('#invite')!
  const words = button.textContent
  const link = new URL(location.href)
  link.searchParams.delete('name')
  link.searchParams.set('room', room)

  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(link.href)
    } catch {
      // Only https and localhost have a clipboard: elsewhere the link is to be copied by hand.
      return show(button, link.href)
    }
    button.textContent = 'Copied'
    setTimeout(() => (button.textContent = words), COPIED_MS)
  }
  button.addEventListener('click', () => void copy())
}

/** Puts a field with the link, all of it selected, in the place of the button. */
function show(button: Element, link: string): void {
  const field = document.createElement('input')
  field.readOnly = true
  field.value = link
  field.setAttribute('aria-label', 'Invite link')
  field.addEventListener('focus', () => field.select())
  button.replaceWith(field)
  field.focus()
}
