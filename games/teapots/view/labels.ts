/**
 * Words over the tray: whose pot that is, how much tea it has, what it just earned. They are
 * elements of the page, so they are sharp at any size and can be read out.
 */

import type { Vec2 } from 'holdfast'

/** What stands over one pot. */
export interface Label {
  player: number
  name: string
  colour: string
  /** Where, in CSS pixels of the picture; null to hide it. */
  at: Vec2 | null
  tea: number
  mine: boolean
  boils: boolean
  leads: boolean
  role: 'server' | 'backup' | 'away' | null
}

/** How long a word rises, in milliseconds. */
const RISE_MS = 1_300

/** See the head of this file. */
export class Labels {
  readonly #over: HTMLElement
  #known = new Map<number, HTMLElement>()

  constructor(over: HTMLElement) {
    this.#over = over
  }

  /** Shows these labels and no others. */
  show(labels: readonly Label[]): void {
    const next = new Map<number, HTMLElement>()
    for (const label of labels) {
      const element = this.#known.get(label.player) ?? this.#create()
      next.set(label.player, element)
      update(element, label)
    }
    for (const [player, element] of this.#known) if (!next.has(player)) element.remove()
    this.#known = next
  }

  /** A word rises from there and goes. */
  rise(text: string, at: Vec2 | null, kind: string): void {
    if (!at) return
    const word = document.createElement('span')
    word.className = `rise ${kind}`
    word.textContent = text
    word.style.translate = `${at[0]}px ${at[1]}px`
    this.#over.append(word)
    setTimeout(() => word.remove(), RISE_MS)
  }

  /** Takes all of them away. */
  clear(): void {
    this.#over.replaceChildren()
    this.#known = new Map()
  }

  #create(): HTMLElement {
    const element = document.createElement('div')
    element.innerHTML = '<b></b><span class="tea" aria-hidden="true"><i></i><i></i><i></i></span>'
    this.#over.append(element)
    return element
  }
}

function update(element: HTMLElement, label: Label): void {
  const { at, name, tea, colour } = label
  element.style.visibility = at ? 'visible' : 'hidden'
  if (at) element.style.translate = `${at[0].toFixed(1)}px ${at[1].toFixed(1)}px`
  // The page is told only what changed.
  const said = JSON.stringify([name, tea, colour, label.boils, label.leads, label.role, label.mine])
  if (element.dataset['said'] === said) return
  element.dataset['said'] = said
  const words = ['label', label.mine && 'mine', label.boils && 'boils', label.leads && 'leads']
  element.className = words.filter(Boolean).join(' ')
  element.dataset['role'] = label.role ?? ''
  element.dataset['tea'] = String(tea)
  element.style.setProperty('--glaze', colour)
  element.firstElementChild!.textContent = name
}
