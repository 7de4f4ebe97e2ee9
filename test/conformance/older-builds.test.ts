// Goal: hubs and members of this build play with those of every released minor version whose ranges
// of versions overlap with ours, whoever serves, and whoever dies.
// Method: tools/release/freeze.ts has put that version into test/data/X.Y as it was released; its
// hubs, members and pages are processes and windows beside those of this build, and are killed.
// Slow: each member is a process, and a dead server is missed for a second.
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs'
import { rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { brotliDecompressSync } from 'node:zlib'
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { bundled } from '../../tools/release/freeze.ts'
import { freePort } from './free-port.ts'
import { startHubIn } from './hub-process.ts'
import { killed, Window } from '../e2e/harness.ts'

const DATA = 'test/data'
const VERSIONS = readdirSync(DATA).filter((name) => /^\d+\.\d+$/.test(name))

// Below the packages that a build does not contain.
mkdirSync('build', { recursive: true })
const base = mkdtempSync(resolve('build/builds-'))
afterAll(() => rmSync(base, { recursive: true, force: true }))

function unpacked(version: string, what: 'node' | 'page'): string {
  const path = join(base, `${version}-${what}.mjs`)
  writeFileSync(path, brotliDecompressSync(readFileSync(join(DATA, version, `${what}.mjs.br`))))
  return path
}

/** What `node` of a frozen build exports, of the one that was just built. */
function today(): string {
  const path = join(base, 'today-node.mjs')
  const from = (file: string): string => {
    return `export * from '${pathToFileURL(resolve('packages/holdfast/dist', file)).href}'\n`
  }
  writeFileSync(path, from('holdfast/src/node.js') + from('hub/src/index.js'))
  return path
}

type Seen = Record<string, string>

const children: ChildProcess[] = []
const windows: Window[] = []
afterEach(async () => {
  await Promise.all(windows.splice(0).map((window) => window.end()))
  await Promise.all(children.splice(0).map(killed))
})

function started(library: string, ...words: string[]): ChildProcess {
  const script = resolve('test/conformance/build-process.js')
  const child = fork(script, [pathToFileURL(library).href, ...words])
  children.push(child)
  return child
}

/** A child's next message with such a word. */
function heard(child: ChildProcess, word: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const listen = (seen: Seen): void => {
      if (seen[word] === undefined) return
      child.off('message', listen)
      resolve(seen[word])
    }
    child.on('message', listen)
    child.once('exit', () => reject(new Error(`it ended, and never said ${word}`)))
  })
}

/** A hub of a build, at a port. @returns ends it, and waits until its file is closed */
async function hubOf(library: string, port: number, file: string): Promise<() => Promise<void>> {
  const child = started(library, 'hub', String(port), file)
  await heard(child, 'listens')
  return async () => {
    child.kill('SIGTERM')
    await once(child, 'exit')
  }
}

/** A member of a build, of which the newest sight is known. */
class Member {
  readonly child: ChildProcess
  seen: Seen = {}

  constructor(library: string, server: string, name: string) {
    this.child = started(library, 'member', server, name)
    this.child.on('message', (seen: Seen) => {
      if ('name' in seen) this.seen = seen
    })
  }

  /** @returns the answer of its action, and whether its update of a piece was recorded */
  async act(by: number): Promise<unknown> {
    const did = heard(this.child, 'did')
    this.child.send(by)
    return JSON.parse(await did)
  }

  kill(): Promise<void> {
    return killed(this.child)
  }
}

const did = (sum: number): unknown => [{ ok: true, value: sum }, true]

async function all(members: readonly Member[], what: Seen): Promise<void> {
  for (const member of members) {
    await expect.poll(() => member.seen, { interval: 20 }).toMatchObject(what)
  }
}

/** A folder with the pages of both builds. */
async function pagesOf(version: string): Promise<string> {
  const folder = join(base, `${version}-pages`)
  mkdirSync(folder)
  for (const name of ['build-scene.js', 'build-page.js']) {
    copyFileSync(join('test/conformance', name), join(folder, name))
  }
  const html = '<!doctype html><body><script type="module" src="build-page.js"></script></body>'
  writeFileSync(join(folder, 'index.html'), html)
  copyFileSync(unpacked(version, 'page'), join(folder, 'old.js'))
  writeFileSync(join(folder, 'new.js'), await bundled(resolve('.'), 'page'))
  return folder
}

describe.each(VERSIONS)('of %s (N-2)', (version) => {
  const library = { old: '', new: '' }
  beforeAll(() => {
    library.old = unpacked(version, 'node')
    library.new = today()
  })

  test.each(['old', 'new'] as const)(
    'both builds serve and back up each other at the %s hub, though servers are killed',
    async (at) => {
      const port = await freePort()
      await hubOf(library[at], port, join(base, `${version}-${at}.db`))
      const member = (build: 'old' | 'new', name: string): Member => {
        return new Member(library[build], `http://127.0.0.1:${port}`, name)
      }
      const ada = member('old', 'Ada')
      await all([ada], { primary: 'Ada', status: 'live' })
      const bea = member('new', 'Bea')
      await all([ada, bea], { safety: 'backed-up', backup: 'Bea' })
      expect([await ada.act(1), await bea.act(2)]).toEqual([did(1), did(3)])
      await all([ada, bea], { sum: '3', dots: '1 2', cards: 'Ada-1@2 of Bea Bea-2@0 of Bea' })

      await ada.kill()
      const cy = member('old', 'Cy')
      await all([bea, cy], { safety: 'backed-up', primary: 'Bea', backup: 'Cy', sum: '3' })
      expect([await cy.act(4), await bea.act(8)]).toEqual([did(7), did(15)])
      const cards = 'Ada-1@8 of Bea Bea-2@0 of Bea Bea-8@0 of Bea Cy-4@0 of Cy'
      await all([bea, cy], { sum: '15', dots: '1 4 8', cards })

      await bea.kill()
      const dan = member('new', 'Dan')
      await all([cy, dan], { safety: 'backed-up', primary: 'Cy', backup: 'Dan', sum: '15' })
      await all([cy, dan], { cards: cards.replaceAll(' of Bea', '') })
      expect(await dan.act(16)).toEqual(did(31))
      await all([cy, dan], { members: 'Cy Dan', sum: '31', dots: '1 16 4 8' })
    },
  )

  test('an old hub that is replaced by ours with the same file: rooms go on, and stored ones open', async () => {
    const port = await freePort()
    const file = join(base, `${version}-replaced.db`)
    const end = await hubOf(library.old, port, file)
    const server = `http://127.0.0.1:${port}`
    const ada = new Member(library.old, server, 'Ada')
    await all([ada], { primary: 'Ada', safety: 'kept' })
    expect(await ada.act(1)).toEqual(did(1))
    await ada.kill()
    await end()

    const endOurs = await hubOf(library.new, port, file)
    const [bea, cy] = [
      new Member(library.new, server, 'Bea'),
      new Member(library.old, server, 'Cy'),
    ]
    await all([bea, cy], { safety: 'backed-up', sum: '1', cards: 'Ada-1@1' })
    expect(await bea.act(2)).toEqual(did(3))
    await endOurs()
    await all([bea, cy], { hub: 'down' })
    await hubOf(library.new, port, file)
    await all([bea, cy], { hub: 'up', status: 'live', safety: 'backed-up' })
    expect(await cy.act(4)).toEqual(did(7))
    await all([bea, cy], { sum: '7', cards: 'Ada-1@4 of Cy Bea-2@0 of Bea Cy-4@0 of Cy' })
  })

  test('old pages at our `serve` play with ours, whose server is killed', async () => {
    const folder = mkdtempSync(join(base, 'hub-'))
    const served = await startHubIn(folder, ['--pages', await pagesOf(version)])
    onTestFinished(async () => void (await served.kill('SIGTERM')))
    const open = async (build: 'old' | 'new', name: string): Promise<Window> => {
      const window = await Window.open(name, `${served.url}?build=${build}&name=${name}`)
      windows.push(window)
      await window.until({ ready: 'yes', status: 'live' })
      return window
    }
    const act = async ({ page }: Window, by: number): Promise<unknown> => {
      const acting = (n: number) => (globalThis as unknown as Acting).act(n)
      return JSON.parse(await page.evaluate(acting, by))
    }
    const ada = await open('old', 'Ada')
    const bea = await open('new', 'Bea')
    for (const one of [ada, bea]) await one.until({ safety: 'backed-up', backup: 'Bea' })
    expect([await act(ada, 1), await act(bea, 2)]).toEqual([did(1), did(3)])
    for (const one of [ada, bea])
      await one.until({ dots: '1 2', cards: 'Ada-1@2 of Bea Bea-2@0 of Bea' })

    await ada.kill()
    const cy = await open('old', 'Cy')
    for (const one of [bea, cy]) {
      await one.until({ safety: 'backed-up', primary: 'Bea', backup: 'Cy', sum: '3' })
    }
    expect(await act(cy, 4)).toEqual(did(7))
    await bea.kill()
    await cy.until({ primary: 'Cy', sum: '7', cards: 'Ada-1@4 of Cy Bea-2@0 Cy-4@0 of Cy' })
    expect(windows.flatMap(({ complaints }) => complaints)).toEqual([])
  })
})

interface Acting {
  act(by: number): Promise<string>
}
