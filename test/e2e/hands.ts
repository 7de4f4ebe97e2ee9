/** What hands do at a card table in a window, and what its page says of pieces. */

import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import type { Cluster } from './cluster.ts'
import type { Window } from './harness.ts'

export type Place = [x: number, y: number]

/** What the mouse is to a page. */
const MOUSE = { pointerId: 1, pointerType: 'mouse', isPrimary: true, button: 0, bubbles: true }

interface Handle {
  id: string
  state: {
    at: Place
    hand: number
    deck: boolean
    up: boolean
    face: number | null
    square: number
  }
  holder: { player: number } | null
  pending: boolean
  grab(grip?: object): Promise<object>
  release(patch?: object): Promise<object>
}

/** What a page offers, as far as it is needed here. */
export interface Globals {
  tabletop: {
    things: { id: string; kind: string; handle: Handle }[]
    find(id: string): { handle: Handle } | null
    drags: { lost: number; held: Map<string, unknown> }
    lane: { isIdle: boolean }
    session: { debug: { condition(text: string | null): void } }
  }
  tabletopScene: {
    camera: { toScreen(at: Place): Place }
    looks: { onScreen(id: string): Place | null }
  }
}

/** Where a place of the table is on the page. */
export async function pointAt(page: Page, at: Place): Promise<Place> {
  return page.evaluate((place) => {
    const { tabletopScene } = globalThis as unknown as Globals
    const box = document.querySelector('div.table')!.getBoundingClientRect()
    const [x, y] = tabletopScene.camera.toScreen(place)
    return [box.left + x, box.top + y] as Place
  }, at)
}

/** Where a piece is on the page, once it glides no more. */
export async function pointOf(page: Page, id: string): Promise<Place> {
  return page.evaluate(async (wanted) => {
    const { tabletopScene } = globalThis as unknown as Globals
    const { looks } = tabletopScene
    for (let last = ''; last === '' || last !== String(looks.onScreen(wanted));) {
      last = String(looks.onScreen(wanted))
      await new Promise((frame) => requestAnimationFrame(frame))
    }
    const box = document.querySelector('div.table')!.getBoundingClientRect()
    const [x, y] = looks.onScreen(wanted)!
    return [box.left + x, box.top + y] as Place
  }, id)
}

/** Presses on a piece and drags it by so much, without letting go. */
export async function drag({ page }: Window, id: string, by: Place): Promise<void> {
  const [x, y] = await pointOf(page, id)
  await page.mouse.move(x, y)
  await page.mouse.down()
  await page.mouse.move(x + by[0], y + by[1], { steps: 4 })
}

export async function dragTo(window: Window, id: string, at: Place): Promise<void> {
  await drag(window, id, [8, 8])
  const [x, y] = await pointAt(window.page, at)
  await window.page.mouse.move(x, y, { steps: 3 })
  await window.page.mouse.up()
}

export async function state({ page }: Window, id: string): Promise<Handle['state']> {
  return page.evaluate((wanted) => {
    return (globalThis as unknown as Globals).tabletop.find(wanted)!.handle.state
  }, id)
}

/** The topmost card of the deck. */
export async function top({ page }: Window): Promise<string> {
  return page.evaluate(() => {
    const { things } = (globalThis as unknown as Globals).tabletop
    return things.findLast(({ kind, handle }) => kind === 'card' && handle.state.deck)!.id
  })
}

/** Lays the topmost card of the deck open there. @returns its id, when all windows have it */
export async function lay(windows: readonly Window[], at: Place): Promise<string> {
  const id = await top(windows[0]!)
  await windows[0]!.page.evaluate(
    async ([wanted, place]) => {
      const { handle } = (globalThis as unknown as Globals).tabletop.find(wanted)!
      await handle.grab({ raise: true })
      await handle.release({ at: place, up: true })
    },
    [id, at] as const,
  )
  for (const window of windows) {
    await expect.poll(async () => (await state(window, id)).at).toEqual(at)
    await settled(window, id, at)
  }
  return id
}

/** Waits until a piece is seen where it lies. */
export async function settled({ page }: Window, id: string, at: Place): Promise<void> {
  await page.waitForFunction(
    ([wanted, place]) => {
      const { tabletopScene } = globalThis as unknown as Globals
      const [seen, lies] = [
        tabletopScene.looks.onScreen(wanted),
        tabletopScene.camera.toScreen(place),
      ]
      return seen !== null && Math.hypot(seen[0] - lies[0], seen[1] - lies[1]) < 2
    },
    [id, at] as const,
    { polling: 20 },
  )
}

/** Waits until nobody holds anything, nothing is under way, and all show the piece at one place. */
export async function agreed(windows: readonly Window[], id: string): Promise<Handle['state']> {
  for (const window of windows) await window.until({ held: '', pending: '0', dragging: '' })
  return same(windows, id)
}

/** Waits until all show the piece at one place. */
export async function same(windows: readonly Window[], id: string): Promise<Handle['state']> {
  const shown = async (): Promise<number> => {
    const all = await Promise.all(windows.map((window) => state(window, id)))
    return new Set(all.map(({ at, up, hand }) => JSON.stringify([at, up, hand]))).size
  }
  await expect.poll(shown).toBe(1)
  return state(windows[0]!, id)
}

/** What came of a race for a piece, and what the window said then. */
interface Verdict {
  /** `late`: somebody held it already, so this was no race. */
  fate: 'has' | 'lost' | 'late'
  toast: string
  dragging: string
}

/** Lets go of what it has, and waits until nobody holds that piece. */
export async function ready({ page }: Window, id: string): Promise<void> {
  await page.evaluate(
    async ([wanted, lifted]) => {
      document.querySelector('div.table')!.dispatchEvent(new PointerEvent('pointerup', lifted))
      const { handle } = (globalThis as unknown as Globals).tabletop.find(wanted)!
      while (handle.holder || handle.pending) {
        await new Promise((frame) => requestAnimationFrame(frame))
      }
    },
    [id, { ...MOUSE, clientX: 450, clientY: 300 }] as const,
  )
}

/** Presses on a piece, drags it, and waits for what comes of that. The button stays down. */
export async function race({ page }: Window, id: string, way: Place): Promise<Verdict> {
  return page.evaluate(
    async ([wanted, [dx, dy], mouse]) => {
      const { tabletop, tabletopScene } = globalThis as unknown as Globals
      const root = document.querySelector('div.table')!
      const said = document.body.dataset as Record<string, string>
      const until = async (holds: () => boolean): Promise<void> => {
        while (!holds()) await new Promise((frame) => requestAnimationFrame(frame))
      }
      const box = root.getBoundingClientRect()
      const [x, y] = tabletopScene.looks.onScreen(wanted)!
      const point = (type: string, clientX: number, clientY: number): void => {
        root.dispatchEvent(new PointerEvent(type, { ...mouse, clientX, clientY }))
      }
      const { lost } = tabletop.drags
      point('pointerdown', box.left + x, box.top + y)
      point('pointermove', box.left + x + dx, box.top + y + dy)
      const isLate = tabletop.drags.held.size === 0
      await until(() => tabletop.lane.isIdle)
      const fate = isLate ? 'late' : tabletop.drags.lost > lost ? 'lost' : 'has'
      await until(() => fate !== 'lost' || Number(said['lost']) > lost)
      return { fate, toast: said['toast']!, dragging: said['dragging']! } as const
    },
    [id, way, MOUSE] as const,
  )
}

/** Weather on the links of a window, from now on. */
export async function weather({ page }: Window, text: string | null): Promise<void> {
  await page.evaluate((condition) => {
    ;(globalThis as unknown as Globals).tabletop.session.debug.condition(condition)
  }, text)
}

/** How many faces a window has of cards that are in a hand, by whose that is. */
export async function facesSeen({ page }: Window): Promise<Record<string, number>> {
  return page.evaluate(() => {
    const seen: Record<string, number> = {}
    for (const { kind, handle } of (globalThis as unknown as Globals).tabletop.things) {
      if (kind !== 'card' || handle.state.up) continue
      const whose = handle.state.deck ? 'deck' : String(handle.state.hand)
      seen[whose] = (seen[whose] ?? 0) + (handle.state.face === null ? 0 : 1)
    }
    return seen
  })
}

/** The man on a square. */
export async function manOn({ page }: Window, square: number): Promise<string> {
  return page.evaluate((wanted) => {
    const { things } = (globalThis as unknown as Globals).tabletop
    return things.find(({ handle }) => handle.state.square === wanted)!.id
  }, square)
}

/** The middle of a square of the board. */
export function squareAt(square: number): Place {
  const row = Math.floor((square - 1) / 4)
  const column = ((square - 1) % 4) * 2 + (row % 2 === 0 ? 1 : 0)
  return [62 + (column + 0.5) * 76, 126 + (row + 0.5) * 76]
}

/** Windows in this order, the first of them serves; that game is on the table of all. */
export async function table(
  cluster: Cluster,
  game: RegExp,
  names: readonly string[],
  more: string[] = [],
  pace = 'No clock',
): Promise<Window[]> {
  // Browsers start at once, but players come one after the other.
  const windows = await Promise.all(
    names.map((name, place) => cluster.open(name, `/tabletop/?room=e2e${more[place] ?? ''}`)),
  )
  for (const [place, { page, name }] of windows.entries()) {
    await page.getByRole('textbox', { name: 'Your name' }).fill(name)
    const button = more[place] === '&watch' ? 'Only watch' : 'Join'
    await page.getByRole('button', { name: button }).click()
    await windows[place]!.until({ status: 'live', me: String(place + 1) })
  }
  const members = names.map((_, place) => place + 1).join(',')
  for (const window of windows) await window.until({ members, safety: 'backed-up', primary: '1' })
  await windows[0]!.page.getByRole('radio', { name: pace }).check()
  await windows[0]!.page.getByRole('button', { name: game }).click()
  for (const window of windows) await window.until({ game: /./, pieces: /^[1-9]/ })
  return windows
}
