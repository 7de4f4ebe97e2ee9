/** The head of a game's page: its name, which leads out to the lobby, and the room. */

import type { ComponentChild, ComponentChildren } from 'preact'

/** See the head of this file. */
export function Head(props: {
  sign: ComponentChild
  game: string
  room: string
  /** Takes leave first and goes by itself; null where nobody is in. */
  leave: (() => void) | null
  /** How things stand. */
  children: ComponentChildren
}): ComponentChild {
  const { leave } = props
  const left = (event: MouseEvent): void => {
    // With such a key the lobby opens beside the game, and nobody leaves.
    if (!leave || event.ctrlKey || event.metaKey || event.shiftKey) return
    event.preventDefault()
    leave()
  }
  return (
    <header class="top">
      <h1 class="title">
        <a class="brand" href="../" title="Leave for the lobby" onClick={left}>
          {props.sign}
          <span>{props.game}</span>
        </a>
      </h1>
      <span class="room" title="The room you are in">
        {props.room}
      </span>
      {props.children}
    </header>
  )
}
