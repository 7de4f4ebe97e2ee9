/** What is laid over the table for a closer look: a card, a pile to look through or to split. */

import type { ComponentChild, ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { Box } from './box.tsx'
import { called, type CardHandle } from './kinds.ts'
import { lookedThrough, pileSize, splitPile } from './piles.ts'
import type { Play } from './play.ts'
import { nameOf } from './rules/faces.ts'
import { CARD } from './rules/places.ts'
import { searcherOf } from './rules/search.ts'
import { gameOf } from './rules/seats.ts'
import { ACTS } from './rules/things.ts'

const VIEW = `${-CARD[0] / 2 - 1} ${-CARD[1] / 2 - 1} ${CARD[0] + 2} ${CARD[1] + 2}`

/** Those that are open. */
export function Sheets({ play }: { play: Play }): ComponentChild {
  if (searcherOf(play.session.table) === play.session.me.player) return <Search play={play} />
  const { sheet } = play
  if (sheet?.kind === 'box' && gameOf(play.session.table) === 'free') {
    const close = (): void => play.show(null)
    return (
      <Sheet name="The box" kind="box" close={close}>
        <Box play={play} close={close} />
      </Sheet>
    )
  }
  const thing = sheet && play.find(sheet.id)
  if (thing?.kind !== 'card') return null
  if (sheet!.kind === 'split') return <Split play={play} card={thing.handle} />
  // It may be turned down or taken up by another meanwhile.
  return thing.handle.state.face === null ? null : <Large play={play} card={thing.handle} />
}

/** Closes what is open. @returns whether anything was */
export function closeSheet(play: Play): boolean {
  const looks = searcherOf(play.session.table) === play.session.me.player
  if (looks) void play.act(ACTS.endSearch, { shuffle: false })
  else if (play.sheet) play.show(null)
  else return false
  return true
}

/** It takes the focus, closes with Escape, and gives the focus back to the table. */
function Sheet(props: {
  name: string
  kind: string
  close: () => void
  children: ComponentChildren
}): ComponentChild {
  const { name, kind, close, children } = props
  const root = useRef<HTMLElement>(null)
  useEffect(() => {
    const first = root.current?.querySelector<HTMLElement>('[data-first]')
    first?.focus({ preventScroll: true })
    return () => document.querySelector<HTMLElement>('.table')?.focus({ preventScroll: true })
  }, [])
  const key = (event: KeyboardEvent): void => {
    if (event.key !== 'Escape') return
    event.stopPropagation()
    close()
  }
  return (
    <section
      ref={root}
      class={`card sheet ${kind}`}
      role="dialog"
      aria-label={name}
      onKeyDown={key}
    >
      {children}
    </section>
  )
}

function Large({ play, card }: { play: Play; card: CardHandle }): ComponentChild {
  const name = nameOf(card.state.face!)
  const close = (): void => play.show(null)
  return (
    <Sheet name={`Enlarged: ${name}`} kind="large" close={close}>
      <svg viewBox={VIEW} role="img" aria-label={name} onClick={close}>
        <use href={`#face-${card.state.face}`} />
      </svg>
      <div class="row">
        <h2>{name}</h2>
        <button type="button" data-first onClick={close}>
          Close
        </button>
      </div>
    </Sheet>
  )
}

function Split({ play, card }: { play: Play; card: CardHandle }): ComponentChild {
  const size = pileSize(play, card)
  const [count, setCount] = useState(Math.floor(size / 2))
  const close = (): void => play.show(null)
  const submit = (event: SubmitEvent): void => {
    event.preventDefault()
    void splitPile(play, card.id, count)
    close()
  }
  return (
    <Sheet name="Split the pile" kind="split" close={close}>
      <h2>Split the pile</h2>
      <form onSubmit={submit}>
        <label>
          Take off the top of {size} cards
          <input
            type="number"
            name="count"
            data-first
            min={1}
            max={size - 1}
            value={count}
            onInput={(event) => setCount(Number(event.currentTarget.value))}
          />
        </label>
        <div class="row">
          <button type="submit" class="main">
            Take off
          </button>
          <button type="button" onClick={close}>
            Cancel
          </button>
        </div>
      </form>
    </Sheet>
  )
}

function Search({ play }: { play: Play }): ComponentChild {
  const cards = lookedThrough(play)
  const end = (shuffle: boolean): void => void play.act(ACTS.endSearch, { shuffle })
  const count = cards.length === 1 ? '1 card' : `${cards.length} cards`
  return (
    <Sheet name="Looking through a pile" kind="search" close={() => end(false)}>
      <h2>You look through {count}</h2>
      <p>The topmost is first. Everybody is told that you look; you alone see what.</p>
      <ul class="faces">
        {cards.map((card) => (
          <li key={card.id}>
            <Pick play={play} card={card} />
          </li>
        ))}
      </ul>
      <div class="row">
        <button type="button" class="main" onClick={() => end(true)}>
          Done, and shuffle
        </button>
        <button type="button" data-first onClick={() => end(false)}>
          Done
        </button>
      </div>
    </Sheet>
  )
}

function Pick({ play, card }: { play: Play; card: CardHandle }): ComponentChild {
  const thing = play.find(card.id)
  const { face } = card.state
  if (!thing || face === null) return null
  const take = (event: MouseEvent): void => {
    // The button goes with its card, and the focus would with it.
    const sheet = (event.currentTarget as HTMLElement).closest('.sheet')
    sheet?.querySelector<HTMLElement>('[data-first]')?.focus({ preventScroll: true })
    play.put([thing], { hand: play.session.me.player })
  }
  const words = `Take ${called(thing)} into your hand`
  return (
    <button type="button" title={words} aria-label={words} onClick={take}>
      <svg viewBox={VIEW} aria-hidden="true">
        <use href={`#face-${face}`} />
      </svg>
    </button>
  )
}

/** Says to the others that somebody looks. */
export function Searched({ play }: { play: Play }): ComponentChild {
  const player = searcherOf(play.session.table)
  if (player === 0 || player === play.session.me.player || !play.isPresent(player)) return null
  return (
    <section class="slim">
      <p>{play.called(player)} looks through a pile.</p>
    </section>
  )
}
