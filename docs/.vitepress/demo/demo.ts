/** The demo of the first page: its windows, its buttons, and the line that says what happened. */

import type { Vec2 } from 'holdfast'
import { Canvas, colourOf } from './canvas.ts'
import { type Frame, HEIGHT, type News, pinsOf, Room, WIDTH } from './room.ts'

/** The longest time of one frame: more has passed while nobody looked. */
const FRAME_MAX_MS = 100
/** How often a window that nobody plays drops a pin. */
const STROLL_PIN_MS = 2_200

/** Networks to choose from, as conditions of `holdfast/sim`. */
const NETWORKS: readonly (readonly [name: string, conditions: string])[] = [
  ['near: 20 ms', 'rtt=20'],
  ['mobile: 90 ms, 3 % lost', 'rtt=90,loss=3%,jitter=30'],
  ['bad: 250 ms, 15 % lost', 'rtt=250,loss=15%,jitter=80'],
]

/** Fills an element with the demo. @returns ends it */
export function show(element: HTMLElement): () => void {
  const demo = new Demo(element)
  return () => demo.end()
}

interface View {
  readonly frame: Frame
  readonly canvas: Canvas
  readonly box: HTMLElement
  readonly badge: HTMLElement
  strolled: number
}

class Demo {
  readonly #room = new Room(Math.floor(Math.random() * 2 ** 31), NETWORKS[0]![1])
  readonly #element: HTMLElement
  readonly #views: readonly View[]
  readonly #button = made('button', 'demo-kill')
  readonly #line = made('p', 'demo-line')
  readonly #calm = matchMedia('(prefers-reduced-motion: reduce)').matches
  #isSeen = true
  #isOver = false
  #last = performance.now()
  #said = ''

  constructor(element: HTMLElement) {
    this.#element = element
    this.#views = this.#room.frames.map((frame) => this.#view(frame))
    const windows = made('div', 'demo-windows')
    windows.append(...this.#views.map(({ box }) => box))
    this.#button.type = 'button'
    this.#button.addEventListener('click', () => {
      if (this.#room.dead) this.#room.reopen()
      else this.#room.kill()
    })
    this.#line.setAttribute('role', 'status')
    const bar = made('div', 'demo-bar')
    bar.append(this.#button, this.#networks())
    element.replaceChildren(windows, bar, this.#line)
    new IntersectionObserver(([entry]) => (this.#isSeen = entry!.isIntersecting)).observe(element)
    this.#say()
    requestAnimationFrame((now) => void this.#frame(now))
  }

  end(): void {
    this.#isOver = true
    this.#element.replaceChildren()
  }

  async #frame(now: number): Promise<void> {
    if (this.#isOver) return
    const ms = Math.min(FRAME_MAX_MS, Math.max(0, now - this.#last))
    this.#last = now
    if (this.#isSeen) {
      for (const view of this.#views) this.#move(view, now, ms)
      await this.#room.pass(ms)
      for (const { canvas } of this.#views) canvas.draw(ms)
      this.#say()
    }
    requestAnimationFrame((next) => void this.#frame(next))
  }

  #move(view: View, now: number, ms: number): void {
    const { frame, canvas } = view
    if (!frame.session) return
    canvas.move(ms, this.#calm ? null : stroll(frame.session.me.player, now))
    if (this.#calm || canvas.isPlayed || now - view.strolled < STROLL_PIN_MS) return
    view.strolled = now + 500 * Math.random()
    if (canvas.place) void this.#room.drop(frame, canvas.place)
  }

  #view(frame: Frame): View {
    const box = made('figure', 'demo-window')
    const head = made('figcaption', 'demo-head')
    const badge = made('span', 'demo-badge')
    head.append(made('span', 'demo-title', `${frame.name}’s window`), badge)
    const field = made('canvas', 'demo-field')
    field.tabIndex = 0
    field.setAttribute('role', 'application')
    const how = 'the arrow keys move the dot, space drops a pin'
    field.setAttribute('aria-label', `${frame.name}’s window: ${how}`)
    field.style.aspectRatio = `${WIDTH} / ${HEIGHT}`
    box.append(head, field)
    const canvas = new Canvas(frame, field, (at) => void this.#room.drop(frame, at))
    return { frame, canvas, box, badge, strolled: performance.now() }
  }

  #networks(): HTMLElement {
    const label = made('label', 'demo-network', 'Network ')
    const choice = document.createElement('select')
    choice.append(...NETWORKS.map(([name, conditions]) => new Option(name, conditions)))
    choice.addEventListener('change', () => this.#room.setConditions(choice.value))
    label.append(choice)
    return label
  }

  /** Writes what is so, where it is not written yet. */
  #say(): void {
    const { server, dead, news } = this.#room
    const isAlone = this.#room.frames.some(({ session }) => session?.safety !== 'backed-up')
    for (const { frame, box, badge } of this.#views) {
      const role = roleOf(frame, server)
      if (box.dataset['role'] === role) continue
      box.dataset['role'] = role
      badge.textContent = role
      const player = frame.session?.me.player
      if (player) box.style.setProperty('--player', colourOf(player))
    }
    const { confirmed } = this.#room
    const text = `${sentenceOf(news, server)} Confirmed pins: ${confirmed}.`
    const button = dead ? `Open ${dead.name}’s window again` : 'Kill the server'
    const said = `${text}${button}${isAlone}`
    if (said === this.#said) return
    this.#said = said
    this.#line.textContent = text
    this.#button.textContent = button
    this.#button.disabled = !dead && isAlone
    this.#button.classList.toggle('is-back', dead !== null)
    Object.assign(this.#element.dataset, { news: news.kind, server: server?.name ?? '' })
    this.#element.dataset['pins'] = String(pinsOf(server?.session?.table ?? { get: () => 0 }))
  }
}

function roleOf(frame: Frame, server: Frame | null): string {
  if (!frame.session) return frame.token === null ? 'joining' : 'killed'
  if (frame === server) return 'server'
  return frame.session.backup?.inc === frame.session.me.inc ? 'backup' : 'player'
}

function sentenceOf(news: News, server: Frame | null): string {
  switch (news.kind) {
    case 'joining':
      return 'Two windows join a room.'
    case 'plays':
      return `${server?.name ?? 'One'}’s window is the server, the other holds a copy.`
    case 'killed':
      return `${news.victim}’s window was killed.`
    case 'taken': {
      const { victim, heir, had } = news
      const pins = `with ${Math.min(news.pins, had)} of ${had} confirmed pins`
      const after = `${Math.round(news.ms)} ms later`
      return `${victim}’s window was killed. ${heir}’s took over ${after}, ${pins}.`
    }
    case 'returned':
      return `${news.name} is back as the same player, and holds the copy now.`
    default:
      return news satisfies never
  }
}

/** Where a dot goes that nobody moves. */
function stroll(player: number, now: number): Vec2 {
  const t = now / 1_000
  const x = WIDTH / 2 + 0.36 * WIDTH * Math.sin(0.55 * t + 2.1 * player)
  const y = HEIGHT / 2 + 0.34 * HEIGHT * Math.sin(0.83 * t + player)
  return [x, y]
}

function made<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  className: string,
  text: string = '',
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag)
  element.className = className
  element.textContent = text
  return element
}
