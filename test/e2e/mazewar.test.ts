// Goal: windows and terminals are in one maze: they move, see and hit each other, and go on when
// the window that serves dies. Method: births in the corridor of the upper edge, cells 0 to 9.
// Slow: browsers and terminals start, and a death is noticed after seconds.
import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { Cluster } from './cluster.ts'
import { killed, said, type Window } from './harness.ts'
import { noTerminal, Terminal } from './tmux.ts'

const cluster = Cluster.forEachTest()
const PROGRAM = program('terminal')
const MULTICAST_PORT = 47_000 + (process.pid % 1_000)

function program(name: string): string {
  return fileURLToPath(new URL(`../../build/games/mazewar/${name}.js`, import.meta.url))
}

/** A process beside the test, which ends with it. */
function start(name: string, ...args: string[]): ChildProcess {
  const place = ['--via', 'lo', '--port', String(MULTICAST_PORT)]
  const child = spawn(process.execPath, [program(name), ...place, ...args])
  onTestFinished(() => killed(child))
  return child
}

async function open(name: string, more: string): Promise<Window> {
  const window = await cluster.open(name, `/mazewar/?room=e2e&name=${name}${more}`)
  await window.until({ status: 'live', slots: 'live' })
  return window
}

test('on the map one sees oneself and whom one sees; a room may show all (SL-8)', async () => {
  const ada = await open('Ada', '&born=2,3')
  const grace = await open('Grace', '&born=6,2')
  await ada.until({ sees: '2', maps: '1 2' })
  // X turns round: nobody is in sight any more, and a moment later nobody is on the map.
  await ada.page.keyboard.press('KeyX')
  await ada.until({ sees: '', maps: '1' })
  await grace.until({ maps: '1 2' })
  // Who shoots is heard, wherever it is.
  await grace.page.keyboard.press('KeyX')
  await grace.until({ maps: '2' })
  const heard = grace.until({ maps: /1/ })
  await Promise.all([heard, ada.page.keyboard.press('Space')])
  await grace.until({ maps: '2' })
  for (const window of [ada, grace]) await window.page.close()
  const first = await cluster.open('Linus', '/mazewar/?room=all&map=all&name=Linus&born=2,2')
  await first.until({ status: 'live', slots: 'live', rats: /^1@2/ })
  const other = await cluster.open('Tony', '/mazewar/?room=all&name=Tony&born=400,3')
  for (const window of [first, other]) await window.until({ maps: '1 2', sees: '' })
  expect(cluster.complaints).toEqual([])
})

test("one's own row is seen on a phone, and nothing flashes or glides for who wants that (SL-8)", async () => {
  const window = await cluster.open('Ada', '/mazewar/?practice=12&name=Ada&seed=4')
  await window.until({ status: 'practice', rats: /@/ })
  for (const [width, height] of [
    [1280, 800],
    [390, 844],
  ] as const) {
    await window.page.setViewportSize({ width, height })
    await window.shot(`mazewar-4-practice-${width}x${height}`)
    const list = window.page.locator('.more')
    for (const at of [0, 10_000]) {
      await list.evaluate((one, top) => one.scrollTo(0, top), at)
      const [row, frame] = await Promise.all([
        window.page.locator('.scores li.me').boundingBox(),
        list.boundingBox(),
      ])
      expect(row!.y).toBeGreaterThanOrEqual(frame!.y - 1)
      expect(row!.y + row!.height).toBeLessThanOrEqual(frame!.y + frame!.height + 1)
    }
  }
  await window.page.emulateMedia({ reducedMotion: 'reduce' })
  await window.page.reload()
  await window.until({ status: 'practice', rats: /@/ })
  const calm = await window.page.evaluate(() => {
    const { mazewar } = globalThis as unknown as { mazewar: { stage: { calm: boolean } } }
    return mazewar.stage.calm
  })
  expect(calm).toBe(true)
  await window.until({ maps: /./ })
})

test('a terminal and a window are in one maze: keys are typed, the screen is read', async (context) => {
  if (noTerminal !== null) context.skip(noTerminal) // needs tmux
  const ada = await open('Ada', '&born=6,2')
  await ada.until({ rats: '1@6/2' })
  const asked = `--join '${cluster.hub.url}/mazewar/?room=e2e' --name Tty --born 2,3`
  const terminal = new Terminal(`${process.execPath} ${PROGRAM} ${asked}`, 100, 30)
  onTestFinished(() => terminal.end())
  await ada.until({ rats: '1@6/2 2@2/3', sees: '2' })
  await terminal.until(/● Ada +0/)
  await terminal.until(/● Tty \(you\) +0/)
  terminal.type('Up')
  await ada.until({ rats: '1@6/2 2@3/3' })
  terminal.type('Space')
  // It stands there for a few seconds.
  await terminal.until(/You hit Ada/)
  await terminal.until(/10 points/)
  await ada.until({ scores: '1:-5 2:10', lines: /Tty hit you/ })
  terminal.type('h')
  await terminal.until(/HOW IT IS PLAYED/)
  terminal.type('C-c')
  expect(await terminal.until(/ended \d+/)).toMatch(/^ended 0$/m)
  await ada.until({ rats: /^1@\d+\/\d$/, members: '1' })
})

test('a rat of the LAN and a window are in one maze through a bridge', async () => {
  const ada = await open('Ada', '&born=2,3')
  const rat = start('lan', '--still', '--report', '200', '--name', 'Remy')
  start('terminal', 'bridge', '--join', `${cluster.hub.url}/mazewar/?room=e2e`)
  // The window sees the rat of the LAN, and the LAN the rat of the window, each where it is.
  await ada.until({ rats: /^1@2\/3 480@\d+\/\d$/ })
  let report = await said(rat, '"at":2,')
  rat.stdout!.on(
    'data',
    (lines: Buffer) => (report = lines.toString().trimEnd().split('\n').at(-1)!),
  )
  // As it is by now: a rat that was out of touch for long is born anew elsewhere.
  const agree = async (): Promise<boolean> => {
    const { me, rats } = JSON.parse(report) as { me: number; rats: { id: number; at: number }[] }
    const cell = rats.find(({ id }) => id === me)?.at
    const seen = (await ada.data())['rats']
    return rats.length === 2 && new RegExp(`^1@2/3 480@${cell}/\\d$`).test(seen ?? '')
  }
  await expect.poll(agree).toBe(true)
  // Its name crosses too (SL-8).
  await ada.page.locator('.scores .name', { hasText: 'Remy' }).waitFor()
  await ada.page.evaluate(() => {
    const { mazewar } = globalThis as unknown as { mazewar: { press(wish: string): void } }
    mazewar.press('ahead')
  })
  await said(rat, '"at":3,')
  rat.stdin!.write('leave\n')
  await ada.until({ rats: '1@3/3' })
})
