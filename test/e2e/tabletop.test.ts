// Goal: a card table in real windows: of two hands on one card one has it and the other is told;
// what is hidden stays so; a drag outlives the server's window; nothing is lost in silence.
// Method: each window is a browser process, its mouse is Playwright's; killed means SIGKILL. What a
// page shows is waited for; only a fault has a length of its own.
// Slow: each window is a browser that starts, and fifty races are run over a slow line.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { Cluster } from './cluster.ts'
import {
  pointAt,
  pointOf,
  drag,
  dragTo,
  state,
  top,
  lay,
  settled,
  agreed,
  same,
  ready,
  race,
  weather,
  facesSeen,
  manOn,
  squareAt,
  table,
  type Place,
  type Globals,
} from './hands.ts'
import type { Window } from './harness.ts'

let cluster: Cluster

/** Ada has black, Grace has white. */
async function seated(pace: string): Promise<[Window, Window]> {
  const [ada, grace] = (await table(cluster, /Draughts/, ['Ada', 'Grace'], [], pace)) as [
    Window,
    Window,
  ]
  await ada.page.getByRole('button', { name: 'Sit here' }).first().click()
  await grace.until({ seats: '1,0' })
  await grace.page.getByRole('button', { name: 'Sit here' }).click()
  for (const window of [ada, grace]) await window.until({ seats: '1,2' })
  return [ada, grace]
}

async function hop(window: Window, from: number, to: number): Promise<void> {
  const id = await manOn(window, from)
  await settled(window, id, squareAt(from))
  await dragTo(window, id, squareAt(to))
}

describe('at one free table', () => {
  let windows: Window[]
  let ada: Window
  let eve: Window
  let grace: Window
  let linus: Window

  beforeAll(async () => {
    cluster = await Cluster.begin()
    windows = await table(cluster, /Free table/, ['Ada', 'Eve', 'Grace', 'Linus'], ['', '&watch'])
    ;[ada, eve, grace, linus] = windows as [Window, Window, Window, Window]
  })
  afterAll(() => cluster.end())

  test('O23, O24, O33: two windows drag one card at once, fifty times: one has it, the other is told', async () => {
    const rivals = [grace, linus]
    // By turns, so that nobody waits until one is let go of.
    const ids = [await lay(windows, [1250, 620]), await lay(windows, [1250, 200])]
    for (const rival of rivals) await weather(rival, 'rtt=150')
    let rounds = 0
    for (let at = 0; rounds < 50; at++) {
      const [id, before] = [ids[at % 2]!, ids[(at + 1) % 2]!]
      const way = at % 4 < 2 ? 12 : -12
      await Promise.all(rivals.map((window) => ready(window, id)))
      const verdicts = await Promise.all(
        rivals.map((window, place) => race(window, id, [place === 0 ? way : -way, way])),
      )
      const fates = verdicts.map(({ fate }) => fate).toSorted()
      // A page that comes so late that it knows is none that loses.
      expect([
        ['has', 'late'],
        ['has', 'lost'],
      ]).toContainEqual(fates)
      if (fates[1] === 'lost') rounds++
      const loser = verdicts.findIndex(({ fate }) => fate !== 'has')
      expect(verdicts[loser]!.toast).toMatch(`${rivals[1 - loser]!.name} has the `)
      // Whoever was second holds nothing, though the button is still down; whoever has it drags on.
      expect(verdicts[loser]!.dragging).toBe('')
      expect(verdicts[1 - loser]!.dragging).toBe(String(id))
      if (at === 0) await rivals[loser]!.shot('tabletop-1-conflict')
      else await same(windows, before)
    }
    await Promise.all(rivals.map((window) => ready(window, ids[1]!)))
    for (const id of ids) await agreed(windows, id)
    for (const rival of rivals) await weather(rival, null)
    expect(cluster.complaints).toEqual([])
  })

  test('O53: a hand is read by its player alone, also not by who watches', async () => {
    await ada.page.getByRole('button', { name: /^Deal 5/ }).click()
    for (const window of [ada, grace, linus]) await window.until({ hand: '5' })
    await eve.until({ hand: '0' })
    await expect.poll(() => facesSeen(ada)).toEqual({ deck: 0, 1: 5, 3: 0, 4: 0 })
    await expect.poll(() => facesSeen(linus)).toEqual({ deck: 0, 1: 0, 3: 0, 4: 5 })
    await expect.poll(() => facesSeen(eve)).toEqual({ deck: 0, 1: 0, 3: 0, 4: 0 })
    // Who watches moves nothing.
    const id = await top(eve)
    await drag(eve, id, [60, 60])
    await eve.page.mouse.up()
    expect(await eve.data()).toMatchObject({ dragging: '', held: '', pending: '0' })
    // A card of a hand that is laid open is seen by all, and taken up again by nobody else.
    const card = await linus.page.evaluate(() => {
      const { things } = (globalThis as unknown as Globals).tabletop
      return things.find(({ kind, handle }) => kind === 'card' && handle.state.hand === 4)!.id
    })
    await dragTo(linus, card, [1000, 620])
    await agreed(windows, card)
    for (const window of windows) expect((await state(window, card)).face).not.toBe(null)
    await linus.shot('tabletop-3-hands')
    expect(cluster.complaints).toEqual([])
  })

  test('O33: a drag that stands still ends when its card is gathered in, and says by whom (PI-2)', async () => {
    const id = await lay(windows, [700, 620])
    await drag(ada, id, [12, 12])
    await ada.until({ dragging: String(id) })
    await grace.until({ held: new RegExp(`(^|,)${id}:1(,|$)`) })
    await grace.page.getByRole('button', { name: 'Gather all' }).click()
    await grace.page.getByRole('button', { name: 'Out of all hands?' }).click()
    // Ada does nothing, and her hand is empty.
    await ada.until({ dragging: '', toast: /^Grace took .* out of your hand\.$/ })
    await ada.shot('tabletop-3-taken')
    const before = (await state(grace, id)).at
    await ada.page.mouse.move(300, 300)
    await ada.page.mouse.up()
    await ada.until({ pending: '0' })
    expect((await state(grace, id)).at).toEqual(before)
    expect(cluster.complaints).toEqual([])
  })

  test('a move is taken back as a new move, unless the piece changed since; keys do it too', async () => {
    const home: Place = [860, 620]
    const id = await lay(windows, home)
    await dragTo(grace, id, [880, 200])
    const moved = await agreed(windows, id)
    expect(moved.at).not.toEqual(home)
    await ada.until({ log: /^moved the / })
    await grace.page.keyboard.press('z')
    await expect.poll(async () => (await state(ada, id)).at).toEqual(home)
    await agreed(windows, id)

    for (const window of windows) await settled(window, id, home)
    await dragTo(grace, id, [880, 200])
    const { at } = await agreed(windows, id)
    await settled(ada, id, at)
    await dragTo(ada, id, [1200, 620])
    await agreed(windows, id)
    await grace.page.keyboard.press('z')
    await grace.until({ toast: /^Not taken back: .* changed since: Ada moved it\.$/ })

    // By keys: turned over, picked up, carried, put down.
    const before = await state(grace, id)
    await settled(grace, id, before.at)
    const [x, y] = await pointOf(grace.page, id)
    await grace.page.mouse.click(x, y)
    await grace.page.keyboard.press('f')
    await expect.poll(async () => (await state(ada, id)).up).toBe(false)
    for (const key of ['Enter', 'ArrowUp', 'ArrowUp', 'Enter']) await grace.page.keyboard.press(key)
    const carried = await agreed(windows, id)
    expect(carried.at).toEqual([before.at[0], before.at[1] - 40])
    expect(cluster.complaints).toEqual([])
  })

  test('O46, O47, O50: a card is drawn and grasped again before the answer is here', async () => {
    await weather(grace, 'rtt=200')
    const { lost, toasts } = await grace.data()
    const id = await top(grace)
    const { mouse } = grace.page
    await drag(grace, id, [0, 30])
    const [x, y] = await pointAt(grace.page, [1000, 600])
    await mouse.move(x, y)
    expect(await state(grace, id)).toMatchObject({ face: null, up: false })
    // All at once, so that they come well within the 200 ms.
    const steps = [mouse.up(), mouse.down(), mouse.move(x + 20, y + 5), mouse.move(x + 60, y + 10)]
    await Promise.all(steps)
    await grace.until({ dragging: String(id), lost: lost! })
    // Its face comes with the answer to letting go, while it is in the air again.
    await expect.poll(async () => (await state(grace, id)).face).not.toBe(null)
    expect(await grace.data()).toMatchObject({ dragging: String(id), toasts })
    await mouse.move(x + 90, y - 40, { steps: 3 })
    await mouse.up()
    const { up, face } = await agreed(windows, id)
    expect(up).toBe(true)
    expect(face).toBe((await state(grace, id)).face)
    expect(await grace.data()).toMatchObject({ lost, toasts })
    await weather(grace, null)
  })
})

describe('each at a table of its own', () => {
  beforeEach(async () => {
    cluster = await Cluster.begin()
  })
  afterEach(() => cluster.end())

  test('draughts by mouse and clicks: a capture is a must, and what is against the rules goes back', async () => {
    const [ada, grace] = await seated('Quick')
    await hop(ada, 9, 17)
    await ada.until({ toast: /one square diagonally/, held: '' })
    await settled(ada, await manOn(ada, 9), squareAt(9))
    await hop(ada, 9, 14)
    for (const window of [ada, grace]) await window.until({ turn: 'w', held: '' })
    for (const { page } of [ada, grace]) {
      await page.locator('.seat.next .clock.runs').waitFor()
      const clocks = await page.locator('.seat .clock').allTextContents()
      expect(clocks).toEqual(['3:00', expect.stringMatching(/^(3:00|[0-2]:\d\d)$/)])
    }
    // White is moved by clicks.
    for (const square of [22, 18]) {
      const [x, y] = await pointAt(grace.page, squareAt(square))
      await grace.page.mouse.click(x, y)
    }
    for (const window of [ada, grace]) await window.until({ turn: 'b', held: '' })
    // Black's 14 may go neither round nor past: the only way left is the jump of 15 over 18.
    await hop(ada, 11, 15)
    for (const window of [ada, grace]) await window.until({ turn: 'w', held: '' })
    await hop(grace, 24, 20)
    await grace.until({ toast: /you must/, held: '' })
    await hop(grace, 18, 9)
    for (const window of [ada, grace]) {
      await window.until({ turn: 'b', cells: /^(?:[^b]*b){11}[^b]*$/, log: 'moved 18×9' })
    }
    await grace.page.getByRole('button', { name: 'Resign' }).click()
    await ada.until({ end: /resigned: black wins/ })
    await ada.page.getByRole('heading', { name: 'You win!' }).waitFor()
    await ada.shot('tabletop-4-draughts')
    await ada.page.getByRole('button', { name: 'Play again' }).click()
    for (const window of [ada, grace]) await window.until({ seats: '2,1', end: '', turn: 'b' })
    expect(cluster.complaints).toEqual([])
  })

  test('Crazy Eights by clicks: the rules deal, refuse, and pass the turn on', async () => {
    const windows = await table(cluster, /Crazy Eights/, ['Ada', 'Grace'])
    const [ada, grace] = windows as [Window, Window]
    for (const [place, { page }] of windows.entries()) {
      await page.getByRole('button', { name: 'Sit here' }).first().click()
      for (const window of windows)
        await window.until({ seats: place === 0 ? '1,0,0,0' : '1,2,0,0' })
    }
    await ada.page.getByRole('button', { name: 'Deal', exact: true }).click()
    for (const window of windows) await window.until({ hand: '7' })
    await ada.page.getByRole('button', { name: 'Pass' }).click()
    await ada.until({ toast: /Before you pass/ })
    for (const hand of ['8', '9', '10']) {
      await ada.page.getByRole('button', { name: /^Draw/ }).click()
      await ada.until({ hand })
    }
    await ada.page.getByRole('button', { name: 'Pass' }).click()
    await grace.page.getByRole('button', { name: /^Draw/ }).waitFor()
    await grace.until({ log: 'passed' })
    expect(await facesSeen(grace)).toMatchObject({ 1: 0, 2: 7 })
    await grace.shot('tabletop-5-eights')
    await ada.page.getByRole('button', { name: 'Panel', exact: true }).click()
    await ada.page.getByRole('button', { name: 'Play something else…' }).click()
    await ada.page.getByRole('button', { name: /Free table/ }).click()
    for (const window of windows) await window.until({ game: 'free', hand: '0' })
    await grace.page.getByRole('button', { name: 'Take that back' }).click()
    await ada.until({ game: 'eights', hand: '10', seats: '1,2,0,0' })
    expect(cluster.complaints).toEqual([])
  })

  test('who comes to the table from watching has a hand there, and is dealt to', async () => {
    const [ada, eve] = (await table(cluster, /Free table/, ['Ada', 'Eve'], ['', '&watch'])) as [
      Window,
      Window,
    ]
    await ada.page.getByRole('button', { name: 'Panel', exact: true }).click()
    await ada.page.getByText('watches', { exact: true }).waitFor()
    await eve.page.getByRole('button', { name: 'Come to the table' }).click()
    await ada.page.getByText('watches', { exact: true }).waitFor({ state: 'detached' })
    await ada.page.getByRole('button', { name: 'Deal 5' }).click()
    for (const window of [ada, eve]) await window.until({ hand: '5' })
  })

  test('who is away keeps the hand, and has it again under the same name, if the others agree (PI-7)', async () => {
    const windows = await table(cluster, /Crazy Eights/, ['Ada', 'Grace', 'Linus'])
    const [ada, grace, linus] = windows as [Window, Window, Window]
    for (const [place, { page }] of windows.entries()) {
      await page.getByRole('button', { name: 'Sit here' }).first().click()
      const seats = [1, 2, 3, 0].map((player) => (player <= place + 1 ? player : 0))
      for (const window of windows) await window.until({ seats: seats.join() })
    }
    await ada.page.getByRole('button', { name: 'Deal', exact: true }).click()
    for (const window of windows) await window.until({ hand: '5' })
    // By the name that the table has of Linus he may come back.
    await ada.until({ kept: 'Ada,Grace,Linus' })
    await linus.kill()
    await ada.until({ members: '1,2' })
    const again = await cluster.open('Linus', '/tabletop/?room=e2e&name=Linus')
    await again.until({ status: 'live', me: '4', hand: '0' })
    await again.page.getByRole('button', { name: 'Go on as Linus' }).click()
    await ada.shot('tabletop-6-claim')
    for (const { page } of [ada, grace]) await page.getByRole('button', { name: 'Agree' }).click()
    for (const window of [ada, grace, again]) await window.until({ seats: '1,2,4,0' })
    await again.until({ hand: '5' })
    expect(await facesSeen(again)).toMatchObject({ 4: 5 })
  })
})
