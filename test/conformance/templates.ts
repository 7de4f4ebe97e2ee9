/** Apps of the templates: created, installed once for all, started, and played in two windows. */

import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { expect } from 'vitest'
import { killed, said, Window } from '../e2e/harness.ts'
import { findings } from '../e2e/looks.ts'
import { adapted, startNginx } from '../e2e/proxies.ts'
import { freePort } from './free-port.ts'
import { readImage } from './image.ts'

const CREATE = resolve('packages/create/index.js')
const DRAWS = ['--use-gl=angle', '--use-angle=swiftshader', '--enable-unsafe-swiftshader']
/** A name of this machine, which is no secure context. */
const NAMED = '--host-resolver-rules=MAP play.example 127.0.0.1'
const PASSWORD = 'tea'

interface Manifest {
  dependencies: Record<string, string>
  devDependencies: Record<string, string>
}

/** What is done in the windows of Ada and Grace, and what is left of it once Ada is gone. */
interface Course {
  play(ada: Window, grace: Window): Promise<void>
  after(grace: Window): Promise<void>
}

const arena: Course = {
  async play(ada, grace) {
    for (const { page } of [ada, grace]) {
      // The best comes first.
      await expect
        .poll(async () => (await page.locator('#scores li').allInnerTexts()).toSorted())
        .toEqual([expect.stringMatching(/^Ada: \d+$/), expect.stringMatching(/^Grace: \d+$/)])
      await page.keyboard.down('ArrowRight')
    }
  },
  async after({ page }) {
    await expect.poll(() => page.locator('#scores').innerText()).toMatch(/^Grace: \d+$/)
  },
}

const COURSES = {
  canvas: arena,
  three: arena,
  react: {
    play: playNotes,
    async after({ page }) {
      await page.getByText('Editing').waitFor({ state: 'detached' })
      await page.getByRole('button', { name: 'Remove Pour the tea' }).click()
      await page.getByText('No notes yet').waitFor()
    },
  },
  table: { play: playCards, after: gather },
  server: {
    async play(ada, grace) {
      await say(ada, 'Tea?')
      await grace.page.getByText('Tea?').waitFor()
    },
    async after(grace) {
      await say(grace, 'Where is Ada?')
      await grace.page.getByText('Tea?').waitFor()
    },
  },
} satisfies Record<string, Course>

async function playNotes(ada: Window, grace: Window): Promise<void> {
  await ada.page.getByLabel('New note').fill('Pour the tea')
  await ada.page.getByRole('button', { name: 'Add' }).click()
  await grace.page.getByRole('button', { name: 'Remove Pour the tea' }).waitFor()
  const here = grace.page.getByLabel('Who is here').getByRole('listitem')
  await expect.poll(() => here.allInnerTexts()).toEqual(['Ada · serves', 'Grace (you)'])
  await ada.page.getByLabel('Title').focus()
  await grace.page.getByText('Editing: Ada').waitFor()
  expect(await ada.page.getByText('Editing').count()).toBe(0)
}

async function playCards(ada: Window, grace: Window): Promise<void> {
  await ada.page.getByRole('button', { name: 'Deal five' }).click()
  for (const { page } of [ada, grace]) {
    await expect.poll(() => page.locator('#hand .card:not(.back)').count()).toBe(5)
    await expect.poll(() => page.locator('#table .card').count()).toBe(42)
  }
  await dragToTable(grace)
  await expect.poll(() => ada.page.locator('#table .card').count()).toBe(43)
  const turned = (): Promise<number> => ada.page.locator('#table .card:not(.back)').count()
  expect(await turned()).toBe(0)
  // It lies where it was let go, in the middle.
  const dropped = ada.page.locator('#table .card[tabindex="0"]').last()
  const left = await dropped.evaluate(({ style }) => Number(style.getPropertyValue('--x')))
  expect(Math.abs(left - 50)).toBeLessThan(3)
  // The uppermost card of the deck, by keys.
  await grace.page.locator('#table .card[tabindex="0"]').first().press('Enter')
  await expect.poll(turned).toBe(1)
  await grace.page.locator('#table .card[tabindex="0"]:not(.back)').press('h')
  await expect.poll(() => grace.page.locator('#hand .card').count()).toBe(5)
}

async function gather({ page }: Window): Promise<void> {
  await expect.poll(() => page.locator('#hand .card:not(.back)').count()).toBe(5)
  await page.getByRole('button', { name: 'Shuffle' }).click()
  await expect.poll(() => page.locator('#table .card.back').count()).toBe(52)
}

type Name = keyof typeof COURSES

/** The templates. */
export const NAMES = Object.keys(COURSES) as Name[]

/** Creates an app of each template below that folder, and installs what they all need, once. */
export function createAll(apps: string, tarball: string): void {
  const all: Manifest = { dependencies: {}, devDependencies: {} }
  for (const name of NAMES) {
    const words = [CREATE, join(apps, name), '--template', name, '--holdfast', tarball]
    expect(spawnSync(process.execPath, words).status).toBe(0)
    const again = spawnSync(process.execPath, words, { encoding: 'utf8' })
    expect(again.stderr).toContain('is not empty')
    const own = manifestOf(join(apps, name))
    expect(own.dependencies['holdfast']).toMatch(/^file:.*\.tgz$/)
    Object.assign(all.dependencies, own.dependencies, { holdfast: `file:${tarball}` })
    Object.assign(all.devDependencies, own.devDependencies)
  }
  writeFileSync(join(apps, 'package.json'), JSON.stringify(all))
  const words = ['install', '--prefer-offline', '--no-audit', '--no-fund', '--ignore-scripts']
  execFileSync('npm', words, { cwd: apps, stdio: ['ignore', 'ignore', 'inherit'] })
}

/** Creates an app with the Holdfast of this clone. @returns what it depends on */
export function createFromClone(app: string, template: Name): string {
  const made = spawnSync(process.execPath, [CREATE, app, '--template', template], {
    encoding: 'utf8',
  })
  expect([made.status, made.stderr]).toEqual([0, ''])
  return manifestOf(app).dependencies['holdfast']!
}

/**
 * Runs the steps of an app's Dockerfile in `root`, and then its program. The context is the app
 * alone, and what the second stage does not copy from the first is not there.
 */
export function runImage(app: string, root: string, port: number): ChildProcess {
  const npm = { npm_config_prefer_offline: 'true', npm_config_audit: 'false' }
  const run = (command: string, words: string[], options: object = {}): void => {
    const environment = { ...process.env, ...npm, ...options }
    const done = spawnSync(command, words, { cwd: app, env: environment, encoding: 'utf8' })
    if (done.status !== 0) throw new Error(done.stdout + done.stderr)
  }
  run('npm', ['install', '--package-lock-only', '--no-fund'])
  const text = readFileSync(join(app, 'Dockerfile'), 'utf8')
  const [first = '', second = ''] = text.split(/^(?=FROM )/m)
  const [build, final] = [join(root, 'first'), join(root, 'second')]
  writeFileSync(build, first)
  writeFileSync(final, second)
  const [from, to, data] = [join(root, 'build'), join(root, 'app'), join(root, 'data')]
  run('sh', ['-c', readImage(build, { '/app': from }).script], { CONTEXT: app })
  const image = readImage(final, {
    ...{ '--from=build /app/': '', ' /app/': ' ', 'WORKDIR /app': `WORKDIR ${to}`, '/data': data },
    ...{ ' && chown node:node': '; :', '0.0.0.0': '127.0.0.1' },
  })
  run('sh', ['-c', image.script], { CONTEXT: from })
  const [program, ...words] = image.command
  const place = { PORT: String(port), PASSWORD }
  if (words.includes('serve')) words.push('--port', String(port))
  return spawn(program!, words, {
    ...{ cwd: image.workdir, env: { ...process.env, ...image.env, ...place } },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
}

/** Adds an option to what an app gives to `join`, and checks its types. */
export function addOption(app: string): void {
  const files = readdirSync(join(app, 'src')).map((name) => join(app, 'src', name))
  const all = files.map((path) => ({ path, text: readFileSync(path, 'utf8') }))
  const { path, text } = all.find((file) => file.text.includes('satisfies JoinOptions'))!
  const given = text
    .replace(/ {2}keepRoom.*\n/, '')
    .replace(/(?<=game: '\w+',)/, " keepRoom: '7d',")
  expect(given).not.toBe(text)
  writeFileSync(path, given)
  const tsc = join(app, '../node_modules/typescript/bin/tsc')
  const { stdout } = spawnSync(process.execPath, [tsc], { cwd: app, encoding: 'utf8' })
  writeFileSync(path, text)
  expect(stdout).toBe('')
}

function manifestOf(app: string): Manifest {
  return JSON.parse(readFileSync(join(app, 'package.json'), 'utf8')) as Manifest
}

/** What an app imports and does not name, or names for development and needs in its server. */
export function strays(app: string): string[] {
  const { dependencies, devDependencies } = manifestOf(app)
  const paths = readdirSync(app, { recursive: true, encoding: 'utf8' })
  return paths
    .filter((path) => /\.tsx?$/.test(path))
    .flatMap((path) => {
      const found = readFileSync(join(app, path), 'utf8').matchAll(/from '([^.'][^']*)'/g)
      const names = [...found].map(([, name]) => /^(@[^/]+\/)?[^/]+/.exec(name!)![0])
      const named = { ...dependencies, ...(!path.startsWith('server') && devDependencies) }
      return names
        .filter((name) => !isBuiltin(name) && !Object.hasOwn(named, name))
        .map((name) => `${path}: ${name}`)
    })
}

/** Plays it in two windows, kills the one that serves, and plays on. */
export async function play(app: string, name: Name): Promise<void> {
  const party = await Players.start(app, name)
  try {
    const [ada, grace] = [await party.open('Ada'), await party.open('Grace')]
    await expect.poll(() => status(grace)).toMatch(/^Served by Ada · backup: this window/)
    await copyInvite(ada)
    await COURSES[name].play(ada, grace)
    await shots(grace, `template-${name}`)
    await ada.kill()
    await expect.poll(() => status(grace)).toMatch(/^Ada is gone, and nothing was lost/)
    await expect.poll(() => status(grace)).toMatch(/Served by this window/)
    await shots(grace, `template-${name}-after`)
    await COURSES[name].after(grace)
    expect(party.complaints()).toEqual([])
  } finally {
    await party.end()
  }
}

/** Joins by the link that a page without a clipboard shows, as one that came over http has none. */
export async function invite(app: string, name: Name): Promise<void> {
  const party = await Players.start(app, name)
  try {
    party.hide()
    const ada = await party.open('Ada')
    await ada.page.getByRole('button', { name: 'Copy invite link' }).press('Enter')
    const field = ada.page.getByLabel('Invite link')
    const link = await field.inputValue()
    expect(link).toBe(linkOf(ada))
    expect(await field.evaluate((input) => input === document.activeElement)).toBe(true)
    expect(await ada.page.evaluate(() => String(getSelection()))).toBe(link)
    await shots(ada, `template-${name}-invite`)
    const guest = await party.window('', link)
    await expect.poll(() => status(guest)).toMatch(/^Served by Ada · backup: this window/)
    expect(party.complaints()).toEqual([])
  } finally {
    await party.end()
  }
}

/** Plays with a bot, which outlives a restart of the hub and serves, until Ctrl-C ends it. */
export async function playWithBot(app: string): Promise<void> {
  const party = await Players.start(app, 'canvas')
  try {
    const ada = await party.open('Ada')
    const bot = await party.bot(linkOf(ada))
    const scores = ({ page }: Window): Promise<string> => page.locator('#scores').innerText()
    await expect.poll(() => scores(ada)).toMatch(/Bot: [1-9]/)
    await expect.poll(() => status(ada)).toBe('Served by this window · backup: Bot')
    await party.kill()
    await expect.poll(() => status(ada)).toMatch(/does not answer/)
    await party.launch()
    const grace = await party.open('Grace')
    await ada.kill()
    await expect.poll(() => status(grace)).toMatch(/^Ada is gone, and nothing was lost/)
    await expect.poll(() => status(grace)).toMatch(/Served by Bot · backup: this window/)
    await expect.poll(() => scores(grace)).not.toContain('Ada')
    expect(await bot.interrupt()).toMatch(/\nBot: left\n$/)
    await expect.poll(() => status(grace)).toMatch(/Served by this window/)
    await expect.poll(() => scores(grace)).toMatch(/^Grace: \d+$/)
    expect(party.complaints()).toEqual([])
  } finally {
    await party.end()
  }
}

/** Plays through nginx, at the path of docs/deploy/nginx.conf, until the server is frozen. */
export async function playBelow(app: string, name: Name): Promise<void> {
  const party = await Players.start(app, name)
  try {
    const page = await party.proxy()
    const ask = (): Promise<boolean> =>
      fetch(page).then(
        ({ ok }) => ok,
        () => false,
      )
    await expect.poll(ask).toBe(true)
    const [ada, grace] = [await party.open('Ada'), await party.open('Grace')]
    expect(new URL(ada.page.url()).pathname).toBe('/rt/')
    await expect.poll(() => status(grace)).toMatch(/^Served by Ada · backup: this window/)
    // As a phone does it to a page in the background: it hands over, and stays.
    await ada.page.evaluate(() => document.dispatchEvent(new Event('freeze')))
    await expect.poll(() => status(grace)).toMatch(/^Ada handed over\. Served by this window/)
    expect(party.complaints()).toEqual([])
  } finally {
    await party.end()
  }
}

/** Kills the process with login and hub, and starts it again. */
export async function restart(app: string): Promise<void> {
  const party = await Players.start(app, 'server')
  try {
    const [ada, grace] = [await party.open('Ada'), await party.open('Grace')]
    await COURSES.server.play(ada, grace)
    await party.kill()
    await expect.poll(() => status(grace)).toMatch(/does not answer/)
    await party.launch()
    await expect.poll(() => status(grace)).toMatch(/Served by Ada/)
    await say(grace, 'Milk?')
    await ada.page.getByText('Milk?').waitFor()
    // A reload needs no login: the hub knows the player.
    await ada.page.reload()
    await ada.page.getByText('Tea?').waitFor()
    // Nobody else comes in without one.
    const linus = await party.window('Linus')
    await logIn(linus, 'coffee')
    await expect.poll(() => status(linus)).toBe('That is not the password.')
    expect(party.complaints()).toEqual([])
  } finally {
    await party.end()
  }
}

/** A server of an app, and the windows that play it. */
class Players {
  readonly #app: string
  readonly #name: Name
  readonly #port: number
  readonly #data = mkdtempSync(join(tmpdir(), 'holdfast-template-'))
  readonly #windows: Window[] = []
  #child: ChildProcess | null = null
  #nginx: ChildProcess | null = null
  #bot: ChildProcess | null = null
  #page: string

  private constructor(app: string, name: Name, port: number) {
    this.#app = app
    this.#name = name
    this.#port = port
    this.#page = `http://127.0.0.1:${port}/`
  }

  static async start(app: string, name: Name): Promise<Players> {
    const party = new Players(app, name, await freePort())
    await party.launch()
    return party
  }

  get #named(): string {
    return `http://play.example:${this.#port}`
  }

  /** As `npm start` does it, without npm, which no signal would go through. */
  async launch(): Promise<void> {
    const port = String(this.#port)
    const serve = join(this.#app, '../node_modules/.bin/holdfast')
    const words =
      this.#name === 'server'
        ? ['dist/server/main.js']
        : [serve, 'serve', '--pages', 'dist', '--port', port, '--origin', this.#named]
    const place = { PORT: port, PASSWORD, STORE: join(this.#data, 'data/hub.db') }
    this.#child = spawn(process.execPath, words, {
      ...{ cwd: this.#app, env: { ...process.env, ...place } },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    await said(this.#child, `127.0.0.1:${port}`)
  }

  /** From now on windows come through it. @returns the page there */
  async proxy(): Promise<string> {
    const port = await freePort()
    const site = adapted('nginx.conf', {
      '443 ssl': `127.0.0.1:${port}`,
      '    ssl_certificate ': '    # ssl_certificate ',
      '    ssl_certificate_key ': '    # ssl_certificate_key ',
      '127.0.0.1:8700': `127.0.0.1:${this.#port}`,
    })
    this.#nginx = startNginx(this.#data, site)
    this.#page = `http://127.0.0.1:${port}/rt/`
    return this.#page
  }

  /** From now on windows come by http and a name, and are no secure contexts. */
  hide(): void {
    this.#page = `${this.#named}/`
  }

  /** The bot of the app, once it plays. @returns ends it by Ctrl-C, and gives what it said */
  async bot(link: string): Promise<{ interrupt(): Promise<string> }> {
    // A group of its own, as a shell makes one: Ctrl-C reaches npm and the bot.
    const bot = spawn('npm', ['run', 'bot', '--', link], {
      ...{ cwd: this.#app, detached: true, stdio: ['ignore', 'pipe', 'inherit'] },
    })
    this.#bot = bot
    let all = ''
    bot.stdout!.on('data', (chunk: Buffer) => (all += chunk.toString()))
    await said(bot, 'Bot plays in the room main')
    return {
      interrupt: async () => {
        process.kill(-bot.pid!, 'SIGINT')
        // All of them have ended.
        await once(bot, 'close')
        return all
      },
    }
  }

  /** SIGKILL. */
  async kill(): Promise<void> {
    await killed(this.#child)
  }

  async window(name: string, url: string = `${this.#page}?name=${name}`): Promise<Window> {
    const window = await Window.open(name, url, [NAMED, ...(this.#name === 'three' ? DRAWS : [])])
    this.#windows.push(window)
    return window
  }

  /** A window that has joined. */
  async open(name: string): Promise<Window> {
    const window = await this.window(name)
    if (this.#name === 'server') await logIn(window, PASSWORD)
    await window.page.getByText('Served by ').waitFor()
    return window
  }

  complaints(): string[] {
    return this.#windows.flatMap(({ complaints }) => complaints)
  }

  async end(): Promise<void> {
    await Promise.all(this.#windows.map((window) => window.end()))
    if (this.#bot) endGroup(this.#bot)
    await killed(this.#child)
    await killed(this.#nginx)
    rmSync(this.#data, { recursive: true, force: true })
  }
}

/** npm, its shell and the bot. */
function endGroup({ pid, exitCode, signalCode }: ChildProcess): void {
  if (exitCode === null && signalCode === null) process.kill(-pid!, 'SIGKILL')
}

/** The link of a window's room, for others. */
function linkOf({ page }: Window): string {
  return `${page.url().split('?')[0]}?room=main`
}

async function copyInvite(window: Window): Promise<void> {
  const { page } = window
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await page.getByRole('button', { name: 'Copy invite link' }).click()
  await page.getByRole('button', { name: 'Copied' }).waitFor()
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(linkOf(window))
  await page.getByRole('button', { name: 'Copy invite link' }).waitFor()
}

/** As a phone shows it, and a desk. */
async function shots(window: Window, name: string): Promise<void> {
  const isWide = (): boolean => document.documentElement.scrollWidth > innerWidth
  for (const [kind, width, height] of [
    ['phone', 390, 844],
    ['desk', 1_280, 800],
  ] as const) {
    await window.page.setViewportSize({ width, height })
    for (let frames = 0; frames < 2; frames++) {
      await window.page.evaluate(() => new Promise((drawn) => requestAnimationFrame(drawn)))
    }
    await window.shot(`${name}-${kind}`)
    expect(await window.page.evaluate(isWide), `${name} on a ${kind}`).toBe(false)
  }
  expect(await findings(window.page)).toEqual([])
}

async function status({ page }: Window): Promise<string | null> {
  const found = page.locator('#status')
  return (await found.count()) === 0 ? null : found.textContent()
}

async function logIn({ page }: Window, password: string): Promise<void> {
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Enter' }).click()
}

async function say({ page }: Window, words: string): Promise<void> {
  await page.getByLabel('Message', { exact: true }).fill(words)
  await page.getByRole('button', { name: 'Send' }).click()
}

async function dragToTable({ page }: Window): Promise<void> {
  const card = (await page.locator('#hand .card').first().boundingBox())!
  const table = (await page.locator('#table').boundingBox())!
  await page.mouse.move(card.x + card.width / 2, card.y + card.height / 2)
  await page.mouse.down()
  await page.mouse.move(table.x + table.width / 2, table.y + table.height / 2, { steps: 5 })
  await page.mouse.up()
}
