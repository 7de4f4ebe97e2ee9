/** The menu of what is selected, at the pointer. */

import type { ComponentChild } from 'preact'
import type { Vec2 } from 'holdfast'
import { called, isLawful, type Thing } from './kinds.ts'
import type { Play } from './play.ts'
import { pileSize } from './piles.ts'
import { DECK, DISCARD } from './rules/places.ts'
import { CHESSMEN } from './rules/men.ts'
import { ACTS } from './rules/things.ts'

/** Where it is open, and on what. */
export interface MenuAt {
  readonly at: Vec2
  readonly thing: Thing
}

type CardThing = Thing & { readonly kind: 'card' }

interface Item {
  readonly name: string
  readonly key: string
  readonly act: () => void
}

/** See the head of this file. */
export function Menu(props: { play: Play; menu: MenuAt; close: () => void }): ComponentChild {
  const { play, menu, close } = props
  const { chosen } = play
  const title = chosen.length > 1 ? `${chosen.length} pieces` : called(menu.thing)
  const width = document.querySelector('.board')?.clientWidth ?? 0
  const height = document.querySelector('.board')?.clientHeight ?? 0
  const items = itemsOf(play, menu.thing, chosen)
  const left = Math.max(8, Math.min(menu.at[0], width - 216))
  const top = Math.max(8, Math.min(menu.at[1], height - 56 - 38 * items.length))
  return (
    <div class="menu" role="menu" aria-label={title} style={{ left: `${left}px`, top: `${top}px` }}>
      <p>{title}</p>
      {items.map(({ name, key, act }) => (
        <button
          key={name}
          type="button"
          role="menuitem"
          onClick={() => {
            act()
            close()
          }}
        >
          {name} <kbd>{key}</kbd>
        </button>
      ))}
    </div>
  )
}

function itemsOf(play: Play, thing: Thing, chosen: readonly Thing[]): Item[] {
  if (thing.kind === 'card' && thing.handle.state.law) return closer(play, thing)
  if (isLawful(thing)) return []
  const levels = [
    { name: 'Raise', key: ']', act: () => play.raise(chosen) },
    { name: 'Lower', key: '[', act: () => play.lower(chosen) },
  ]
  if (thing.kind === 'man') {
    if (thing.handle.state.kind !== 0) return [...promotions(play, thing, chosen), ...levels]
    return [{ name: 'Crown', key: 'F', act: () => play.flip(chosen) }, ...levels]
  }
  const rotate = { name: 'Rotate', key: 'R', act: () => play.turn(chosen, 1) }
  const back = { name: 'Put into the box', key: 'Del', act: () => play.putBack(chosen) }
  if (thing.kind === 'token') {
    const { counter } = thing.handle.state
    return [...(counter ? counting(play, chosen) : []), ...levels, back]
  }
  if (thing.kind === 'die') {
    const roll = { name: 'Roll', key: 'G', act: () => void play.roll(thing.id) }
    return [roll, rotate, ...levels, back]
  }
  const me = play.session.me.player
  return [
    ...closer(play, thing),
    { name: 'Flip', key: 'F', act: () => play.flip(chosen) },
    rotate,
    { name: 'To my hand', key: 'H', act: () => play.put(chosen, { hand: me }) },
    { name: 'Discard', key: 'P', act: () => play.put(chosen, { at: DISCARD }) },
    { name: 'Onto the deck', key: '', act: () => play.put(chosen, { at: DECK }) },
    ...ofPile(play, thing),
    ...levels,
  ]
}

function promotions(play: Play, thing: Thing, chosen: readonly Thing[]): Item[] {
  const kind = thing.kind === 'man' ? thing.handle.state.kind : 0
  return [5, 4, 3, 2]
    .filter((each) => each !== kind)
    .map((each) => ({
      name: `Becomes a ${CHESSMEN[each]}`,
      key: each === 5 && kind === 1 ? 'F' : '',
      act: () => play.become(chosen, each),
    }))
}

function counting(play: Play, chosen: readonly Thing[]): Item[] {
  return [
    { name: 'One more', key: '+', act: () => void play.count(chosen, 1) },
    { name: 'One less', key: '−', act: () => void play.count(chosen, -1) },
    { name: 'Ten more', key: 'PgUp', act: () => void play.count(chosen, 10) },
    { name: 'Ten less', key: 'PgDn', act: () => void play.count(chosen, -10) },
  ]
}

function closer(play: Play, thing: CardThing): Item[] {
  if (thing.handle.state.face === null) return []
  return [{ name: 'Enlarge', key: 'E', act: () => play.enlarge(thing) }]
}

function ofPile(play: Play, { id, handle }: CardThing): Item[] {
  if (pileSize(play, handle) < 2) return []
  const search = (): void => void play.act(ACTS.search, { card: id })
  return [
    { name: 'Look through it', key: 'L', act: search },
    { name: 'Split it…', key: 'T', act: () => play.show({ kind: 'split', id }) },
  ]
}
