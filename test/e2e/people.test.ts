// Goal: a person is put out and let in again by those who may, by what the pages offer; and into a
// closed room one comes by a link that invites, once, until its time is over, or only to watch.
// Method: each window is a browser process; what is pressed is what a player sees.
// Slow: each window is a browser that starts.
import { expect, test } from 'vitest'
import { closed } from './closed.ts'
import { Cluster } from './cluster.ts'
import { Window } from './harness.ts'

const cluster = Cluster.forEachTest()

const dots = (name: string): string => `/dots/?room=people&name=${name}`

/** What a window shows, once it does. */
async function reads(window: Window, text: string): Promise<void> {
  await window.page.getByText(text).first().waitFor()
}

async function press(window: Window, name: string): Promise<void> {
  await window.page.getByRole('button', { name, exact: true }).click()
}

async function putOut(window: Window, name: string, how: 'Kick' | 'Ban'): Promise<void> {
  await window.page.getByLabel(`Put ${name} out`).click()
  await press(window, `${how} ${name}`)
}

test('T1: the founder kicks and bans by the list of players, and lets in again (SE-4)', async () => {
  const ada = await cluster.open('Ada', dots('Ada'))
  await ada.until({ status: 'live' })
  const grace = await cluster.open('Grace', dots('Grace'))
  await grace.until({ status: 'live', members: '1,2' })
  const linus = await cluster.open('Linus', dots('Linus'))
  for (const one of [ada, grace, linus]) await one.until({ members: '1,2,3', safety: 'backed-up' })
  expect(await grace.page.getByLabel('Put Linus out').count()).toBe(0)
  await ada.page.getByLabel('Put Linus out').click()
  await ada.shot('people-1-menu')
  await press(ada, 'Kick Linus')
  await reads(linus, 'You were put out')
  await linus.shot('people-2-kicked')
  for (const one of [ada, grace]) await one.until({ members: '1,2' })
  await press(linus, 'Join again')
  await linus.until({ status: 'live', me: '3', members: '1,2,3' })

  // The backup as well: the hub drops it first.
  await ada.until({ backup: '2', safety: 'backed-up' })
  await putOut(ada, 'Grace', 'Ban')
  await reads(grace, 'You were banned')
  await press(grace, 'Join again')
  await reads(grace, 'You were banned here')
  await grace.shot('people-3-banned')
  await linus.until({ members: '1,3', safety: 'backed-up' })
  await reads(linus, 'Grace is banned')
  await press(ada, 'Let Grace in again')
  await ada.page.getByText('Grace is banned').waitFor({ state: 'detached' })
  await press(grace, 'Try again')
  await grace.until({ status: 'live', me: '2', members: '1,3,2' })
  expect(cluster.complaints).toEqual([])
})

/** That window is told why it is not let in, and ends. */
async function isRefused(window: Window, why: string): Promise<void> {
  await window.until({ status: 'failed', error: 'forbidden' })
  await reads(window, why)
  if (why.startsWith('rooms')) await window.shot('people-4-closed')
  await window.end()
}

/** Who comes too late is told so, and by a fresh link comes in by the same window. */
async function comesLate(window: Window, fresh: string): Promise<void> {
  await window.until({ status: 'failed', error: 'forbidden' })
  await reads(window, 'the ticket has expired')
  await reads(window, 'Ask somebody there for an invitation')
  await window.shot('people-6-late')
  await window.page.goto(fresh)
  await window.until({ status: 'live', members: '1,2,4' })
}

test('T1: a link that invites lets one browser in, once; others are told why not (SE-18)', async () => {
  const { hub, link, late } = await closed('dots')
  const windows: Window[] = []
  const open = async (name: string, fragment: string): Promise<Window> => {
    const window = await Window.open(name, `${hub.url}${dots(name)}${fragment}`)
    windows.push(window)
    return window
  }
  try {
    const [host, invited] = [await link({}), await link({})]
    const ada = await open('Ada', host)
    await ada.until({ status: 'live' })
    const grace = await open('Grace', invited)
    await grace.until({ status: 'live', members: '1,2' })
    await grace.page.reload()
    await grace.until({ status: 'live', members: '1,2', me: '2' })

    for (const [fragment, why] of [
      ['', 'rooms of dots take a ticket'],
      [invited, 'the ticket was used'],
      [await link({ room: 'elsewhere' }), 'the ticket is for dots/elsewhere'],
      [`${invited.slice(0, -4)}AAAA`, 'ticket'],
    ] as const) {
      await isRefused(await open('Linus', fragment), why)
    }
    const fresh = `${hub.url}${dots('Barbara')}${await link({})}`
    await comesLate(await open('Barbara', await late()), fresh)
    await ada.until({ members: '1,2,4' })

    const watcher = await open('Eve', await link({ rights: ['watch'] }))
    await watcher.until({ status: 'live', members: '1,2,4,5' })
    await reads(watcher, 'You watch.')
    expect(await watcher.page.getByRole('button', { name: 'Join the others' }).count()).toBe(0)
    await watcher.shot('people-5-watching')
    expect(windows.flatMap(({ complaints }) => complaints)).toEqual([])
  } finally {
    await Promise.all(windows.map((window) => window.end()))
    await hub.end()
  }
})
