/** The way out to the lobby. */

import type { ComponentChild } from 'preact'

/** A link out. @param leave  takes leave first and goes by itself; null where nobody is in */
export function Exit(props: {
  leave: (() => void) | null
  children: ComponentChild
  class?: string
}): ComponentChild {
  const { leave } = props
  const left = (event: MouseEvent): void => {
    // With such a key the lobby opens beside the game, and nobody leaves.
    if (!leave || event.ctrlKey || event.metaKey || event.shiftKey) return
    event.preventDefault()
    leave()
  }
  return (
    <a class={props.class} href="../" title="Leave for the lobby" onClick={left}>
      {props.children}
    </a>
  )
}
