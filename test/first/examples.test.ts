// Goal: the examples of the README do what they say.
// Method: each in two windows; what one does the other shows.
// Slow: seven browsers start.
import { expect, test } from 'vitest'
import { Cluster } from '../e2e/cluster.ts'
import type { Window } from '../e2e/harness.ts'

const cluster = Cluster.forEachTest()

interface Cube {
  at: [number, number]
  mine: boolean
}

function cubesOf({ page }: Window): Promise<Cube[]> {
  return page.evaluate(() => {
    const { cubes } = globalThis as unknown as { cubes?: () => Cube[] }
    return cubes?.() ?? []
  })
}

/** Whether a window of the first game has a dot there. */
function isDrawn({ page }: Window, x: number, y: number): Promise<boolean> {
  return page.evaluate(
    ([left, top]) => {
      const pen = document.querySelector('canvas')!.getContext('2d')!
      return pen.getImageData(left, top, 1, 1).data[3]! > 0
    },
    [x, y] as const,
  )
}

/** Opens the first game, and moves its dot, which stands in the middle once it has joined. */
async function openDot(name: string, x: number, y: number): Promise<Window> {
  const window = await cluster.open(name, '/first/')
  await expect.poll(() => isDrawn(window, 204, 204)).toBe(true)
  await window.page.locator('canvas').hover({ position: { x, y } })
  await expect.poll(() => isDrawn(window, x + 4, y + 4)).toBe(true)
  return window
}

/** How a place of the first game is drawn from now on, frame by frame, each shade once in a row. */
async function shadesOf({ page }: Window, x: number, y: number): Promise<() => Promise<string[]>> {
  await page.evaluate(
    ([left, top]) => {
      const pen = document.querySelector('canvas')!.getContext('2d')!
      const shades: string[] = []
      Object.assign(globalThis, { shades })
      const look = (): void => {
        const alpha = pen.getImageData(left, top, 1, 1).data[3]!
        const shade = alpha === 0 ? 'none' : alpha < 128 ? 'dim' : 'whole'
        if (shades.at(-1) !== shade) shades.push(shade)
        requestAnimationFrame(look)
      }
      look()
    },
    [x, y] as const,
  )
  return () => page.evaluate(() => (globalThis as unknown as { shades: string[] }).shades)
}

/** How often the roles of the one session changed: twice once it has a backup. */
async function epoch(): Promise<number> {
  const listed = await fetch(`${cluster.hub.url}/api/sessions`)
  return ((await listed.json()) as { epoch: number }[])[0]?.epoch ?? 0
}

test('T1: the first game: dots are seen in both windows, and go on without the first (DO-2)', async () => {
  const [ada, grace] = [await openDot('Ada', 50, 60), await openDot('Grace', 150, 60)]
  await expect.poll(() => isDrawn(grace, 54, 64)).toBe(true)
  await expect.poll(epoch).toBe(2)
  await ada.kill()
  await grace.page.locator('canvas').hover({ position: { x: 300, y: 100 } })
  await expect.poll(() => isDrawn(grace, 304, 104)).toBe(true)
  const linus = await cluster.open('Linus', '/first/')
  await expect.poll(() => isDrawn(linus, 304, 104)).toBe(true)
})

test('the first game: the dot of the window that is closed is dimmed, then gone (N-16)', async () => {
  const [ada, grace] = [await openDot('Ada', 50, 60), await openDot('Grace', 300, 100)]
  await expect.poll(() => isDrawn(grace, 54, 64)).toBe(true)
  await expect.poll(epoch).toBe(2)
  const shades = await shadesOf(grace, 54, 64)
  await ada.page.close()
  // A page that stalls just before is dimmed once more.
  await expect.poll(async () => (await shades()).slice(-3)).toEqual(['whole', 'dim', 'none'])
  expect(await isDrawn(grace, 304, 104)).toBe(true)
})

test('B1, B25: Preact: a card of one window is ticked and removed in another', async () => {
  const [ada, grace] = [
    await cluster.open('Ada', '/examples/preact/'),
    await cluster.open('Grace', '/examples/preact/'),
  ]
  await ada.page.getByLabel('New card').fill('Pour the tea')
  await ada.page.getByRole('button', { name: 'Add' }).click()
  const tick = grace.page.getByLabel('Pour the tea', { exact: true })
  await tick.click()
  await grace.page.getByText('yours').waitFor()
  await ada.page.locator('.done', { hasText: 'Pour the tea' }).waitFor()
  await ada.page.getByText('yours').waitFor({ state: 'detached' })
  await grace.shot('example-preact')
  await ada.page.getByRole('button', { name: 'Remove Pour the tea' }).click()
  await grace.page.getByText('No cards yet.').waitFor()
  expect(cluster.complaints).toEqual([])
})

test('B28: three.js: who presses a cube owns it and drags it, and the other sees it move', async () => {
  const draws = ['--use-gl=angle', '--use-angle=swiftshader', '--enable-unsafe-swiftshader']
  const path = '/examples/three/'
  const ada = await cluster.open('Ada', path, draws)
  await expect.poll(() => cubesOf(ada)).toHaveLength(5)
  const grace = await cluster.open('Grace', path, draws)
  await expect.poll(() => cubesOf(grace)).toHaveLength(5)
  expect((await cubesOf(grace)).filter(({ mine }) => mine)).toEqual([])
  // The cube in the middle of the floor is in the middle of the window.
  const { mouse } = grace.page
  await mouse.move(450, 305)
  await mouse.down()
  await expect.poll(async () => (await cubesOf(grace)).filter(({ mine }) => mine)).toHaveLength(1)
  await mouse.move(520, 420, { steps: 5 })
  await mouse.up()
  const moved = (await cubesOf(grace)).find(({ mine }) => mine)!
  expect(moved.at[1]).toBeGreaterThan(0.5)
  const seen = async (): Promise<Cube[]> =>
    (await cubesOf(ada)).filter(({ at, mine }) => !mine && at.join() === moved.at.join())
  await expect.poll(seen).toHaveLength(1)
  await ada.shot('example-three')
  expect(cluster.complaints).toEqual([])
})
