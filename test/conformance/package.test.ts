// Goal: what `npm pack -w holdfast` packs is small, whole, and works where nothing of this
// repository is.
// Method: a copy of the tree is packed and compared with what it was; the tarball is unpacked into
// a project of its own, which has the packages that it depends on and no other.
// Slow: it packs the whole tree four times, each with a build, and installs what is packed.
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs'
import { rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { join as joinRoom } from '../../packages/holdfast/src/node.ts'
import { killed, said } from '../e2e/harness.ts'
import { lacking } from '../e2e/proxies.ts'
import { writeApplication } from './application.ts'
import { freePort } from './free-port.ts'
import { readImage } from './image.ts'
import * as templates from './templates.ts'
import { until } from './until.ts'

/** Of the tarball, which npm calls the package size; and unpacked. */
const BYTES_MAX = 1_500_000
const UNPACKED_MAX = 5_100_000
const ROOT = resolve('.')
const base = mkdtempSync(join(tmpdir(), 'holdfast-package-'))
const tree = join(base, 'tree')
const project = join(base, 'project')
const installed = join(project, 'node_modules/holdfast')

interface Packed {
  dependencies: Record<string, string>
  exports: Record<string, object>
  scripts: Record<string, string>
  bin: Record<string, string>
}

let manifest: Packed
let tarball: string
let before: string[]
let after: string[]

/** The files below a folder, in order; of a tree without what is installed. */
function filesOf(folder: string): string[] {
  const found = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  const files = found.filter((path) => !path.startsWith('node_modules'))
  return files.filter((path) => statSync(join(folder, path)).isFile()).toSorted()
}

function digestsOf(folder: string): string[] {
  return filesOf(folder).map((path) => {
    return `${createHash('sha256')
      .update(readFileSync(join(folder, path)))
      .digest('hex')} ${path}`
  })
}

function copyTree(): void {
  const args = ['ls-files', '-co', '--exclude-standard']
  const paths = execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' }).trim().split('\n')
  for (const path of paths) {
    if (!existsSync(join(ROOT, path))) continue
    mkdirSync(dirname(join(tree, path)), { recursive: true })
    cpSync(join(ROOT, path), join(tree, path))
  }
  symlinkSync(join(ROOT, 'node_modules'), join(tree, 'node_modules'))
  // Somebody has built here, an older state of it.
  mkdirSync(join(tree, 'packages/holdfast/dist/gone'), { recursive: true })
  writeFileSync(join(tree, 'packages/holdfast/dist/gone/old.js'), 'export {}\n')
  mkdirSync(join(tree, 'build'))
}

/** @returns the status of npm, and what it said of what went wrong */
function pack(): { status: number | null; stderr: string } {
  const args = ['pack', '--workspace', 'holdfast', '--silent', '--pack-destination', base]
  return spawnSync('npm', args, {
    cwd: tree,
    encoding: 'utf8',
    stdio: ['ignore', 'ignore', 'pipe'],
  })
}

beforeAll(() => {
  copyTree()
  before = digestsOf(tree)
  const { status, stderr } = pack()
  if (status !== 0) throw new Error(stderr)
  after = digestsOf(tree)
  mkdirSync(installed, { recursive: true })
  tarball = join(
    base,
    readdirSync(base).find((name) => name.endsWith('.tgz'))!,
  )
  execFileSync('tar', ['-xzf', tarball, '-C', installed, '--strip-components=1'])
  manifest = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')) as Packed
  // And the optional peers of three doors.
  const peers = ['vite', 'react', '@types/react', 'yjs']
  for (const name of [...Object.keys(manifest.dependencies), ...peers]) {
    const link = join(project, 'node_modules', name)
    mkdirSync(dirname(link), { recursive: true })
    symlinkSync(join(ROOT, 'node_modules', name), link)
  }
}, 600_000)
afterAll(() => rmSync(base, { recursive: true, force: true }))

function run(...args: string[]): { status: number | null; stdout: string; stderr: string } {
  return spawnSync(process.execPath, args, { cwd: project, encoding: 'utf8', timeout: 60_000 })
}

// What is built on the way stands in `build`, which is nobody's.
function own(digests: readonly string[]): string[] {
  return digests.filter((line) => !line.includes(' build/'))
}

test('packing leaves the tree as it was (AP-16)', () => {
  expect(own(after)).toEqual(own(before))
})

test.each([
  [
    'code that does not compile',
    'packages/holdfast/src/machine.ts',
    'export const broken: number = "a text"\n',
  ],
  [
    'a file that is not there',
    'packages/holdfast/src/machine.ts',
    'export const told = "import \'./no.ts\'"\n',
  ],
  ['a door to nowhere', 'packages/holdfast/package.json', null],
])(
  'nor does packing that fails: %s (AP-16)',
  (_what, path, text) => {
    const file = join(tree, path)
    const sound = readFileSync(file, 'utf8')
    const broken =
      text === null ? sound.replace('dist/hub/src/index.js', 'dist/nowhere.js') : sound + text
    writeFileSync(file, broken)
    const packed = readdirSync(base)
    expect(pack().status).not.toBe(0)
    writeFileSync(file, sound)
    expect(own(digestsOf(tree))).toEqual(own(before))
    expect(readdirSync(base)).toEqual(packed)
    expect(readdirSync(join(tree, 'build'))).not.toContain('dist-before-packing')
  },
  600_000,
)

test('the package has at most 1.5 MB, and of each kind of file what a user needs (AP-16)', () => {
  const files = filesOf(installed)
  const bytes = files.reduce((sum, path) => sum + statSync(join(installed, path)).size, 0)
  console.info(`package size ${statSync(tarball).size}, unpacked ${bytes}`)
  expect(statSync(tarball).size).toBeLessThan(BYTES_MAX)
  expect(bytes).toBeLessThan(UNPACKED_MAX)
  const others = files.filter((path) => {
    return !/^dist\/.*\.(js|d\.ts|js\.map)$|^dist\/lobby\/|^docs\//.test(path)
  })
  expect(others).toEqual(['CHANGELOG.md', 'LICENSE', 'README.md', 'package.json'])
  const strange = /\.d\.ts\.map$|\.test\.|gone\/|\/pages\/|(^|\/)proof\/|\.png$/
  expect(files.filter((path) => strange.test(path))).toEqual([])
  expect(files.filter((path) => path.startsWith('dist/lobby/'))).toContain(
    'dist/lobby/rooms/index.html',
  )
})

test('no link of its pages is dead, and each is named where it is not shipped (AP-16) (DO-13)', () => {
  const pages = filesOf(installed).filter((path) => path.endsWith('.md'))
  expect(pages).toEqual(expect.arrayContaining(['docs/guide/README.md', 'docs/errors.md']))
  const links = pages.flatMap((page) => {
    const text = readFileSync(join(installed, page), 'utf8')
    return [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, to = '']) => ({ page, to }))
  })
  expect(links.length).toBeGreaterThan(200)
  const lost = links.filter(({ page, to }) => {
    const [file = ''] = to.split('#')
    const isOutside = /^\w+:/.test(to)
    return !isOutside && file !== '' && !existsSync(join(installed, dirname(page), file))
  })
  expect(lost).toEqual([])
  const named = readFileSync(join(installed, 'README.md'), 'utf8')
  expect(named).toContain('All figures (`docs/figures.md`)')
  expect(named).not.toContain('how it works')
})

/** The lines of our source that the frames of a stack in the output name, the innermost first. */
function sourceOf(stack: string): string[] {
  const frames = stack.matchAll(/(\w+)\/src\/([\w/-]+\.ts):(\d+)/g)
  return [...frames].map(([, workspace, path, line]) => {
    const text = readFileSync(join(tree, 'packages', workspace!, 'src', path!), 'utf8')
    return text.split('\n')[Number(line) - 1]!.trim()
  })
}

const MISTAKE = `import { object, u8 } from 'holdfast'
try { object('', { x: u8 }) } catch (error) { console.log(error.stack) }`
const LINES = [
  "return new HoldfastError('bad-value', message)",
  'throw badValue(`the name of a type has 1 to ${TYPE_NAME_MAX} characters: ${has}`)',
  'checkName(name)',
]

describe('a stack names the lines of our TypeScript (AP-16)', () => {
  test('in Node', () => {
    writeFileSync(join(project, 'mistake.mjs'), MISTAKE)
    expect(sourceOf(run('--enable-source-maps', 'mistake.mjs').stdout)).toEqual(LINES)
  })
  test('in what Vite bundles for pages, minified', () => {
    writeFileSync(join(project, 'build.mjs'), BUILD)
    expect(run('build.mjs').stderr).toBe('')
    expect(sourceOf(run('--enable-source-maps', 'dist/mistake.mjs').stdout)).toEqual(LINES)
  })
})

const BUILD = `import { build } from 'vite'
import { holdfast } from 'holdfast/vite'
const lib = { entry: 'mistake.mjs', formats: ['es'], fileName: () => 'mistake.mjs' }
const options = { sourcemap: true, minify: true, lib }
await build({ plugins: [holdfast()], build: options, logLevel: 'error' })
`

test('every path of its exports is in it, and nothing runs where it is installed (AP-16)', () => {
  const leads = (part: string | object): string[] => {
    return typeof part === 'string' ? [part] : Object.values(part).flatMap(leads)
  }
  const paths = [...leads(manifest.exports), ...leads(manifest.bin)]
  expect(paths.length).toBeGreaterThan(15)
  expect(paths.filter((path) => !existsSync(join(installed, path)))).toEqual([])
  for (const name of ['preinstall', 'install', 'postinstall', 'prepare']) {
    expect(manifest.scripts).not.toHaveProperty(name)
  }
})

test('every door opens on Node with the packages that it depends on alone (AP-16)', () => {
  const names = Object.keys(manifest.exports).map((path) => path.replace('.', 'holdfast'))
  const code = `for (const name of ${JSON.stringify(names)}) {
    const door = Object.values(await import(name))
    console.log(name, door.map((value) => typeof value).find((type) => type === 'function'))
  }`
  const { stdout, stderr } = run('--input-type=module', '-e', code)
  expect(stderr).toBe('')
  expect(stdout).toBe(names.map((name) => `${name} function\n`).join(''))
})

test('its types are whole, for who checks libraries too (AP-16)', () => {
  const names = Object.keys(manifest.exports).map((path) => path.replace('.', 'holdfast'))
  const lines = names.map((name, at) => `export * as door${at} from '${name}'\n`)
  writeFileSync(join(project, 'use.ts'), lines.join(''))
  const args = ['--strict', '--noEmit', '--module', 'nodenext', '--target', 'es2023']
  const types = ['--types', 'node', '--typeRoots', join(ROOT, 'node_modules/@types')]
  const tsc = join(ROOT, 'node_modules/typescript/bin/tsc')
  expect(run(tsc, ...args, ...types, 'use.ts').stdout).toBe('')
})

test('what needs SQLite says what to install, and works once it is there (AP-16)', async () => {
  const cli = join(installed, manifest.bin['holdfast']!)
  const serve = [cli, 'serve', '--port', '0', '--data', 'hub.db']
  const { status, stderr } = run(...serve)
  expect([status, stderr.split('\n').length]).toEqual([2, 2])
  expect(stderr).toContain(
    'needs the package libsql; it is not installed with Holdfast: npm install',
  )
  const open = `import { openMailbox } from 'holdfast/mailbox'
    await openMailbox({ id: 'a', store: 'a.db' }).catch((error) => console.log(error.code))`
  expect(run('--input-type=module', '-e', open).stdout).toBe('store\n')
  symlinkSync(join(ROOT, 'node_modules/libsql'), join(project, 'node_modules/libsql'))
  const child = spawn(process.execPath, serve, {
    cwd: project,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  try {
    const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string]
    const [, url] = /^Holdfast serves (\S+)$/.exec(line)!
    const page = await fetch(url!)
    expect([page.url, page.status]).toEqual([`${url}lobby/`, 200])
    const text = await page.text()
    expect(text).toContain('<title>Rooms')
    const [script] = /assets\/[^"]+\.js/.exec(text)!
    expect((await fetch(`${url}${script}`)).status).toBe(200)
  } finally {
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
})

test('the steps of its Dockerfile make a hub in an empty folder, which is well, keeps a room, and ends (AP-15)', async ({
  onTestFinished,
}) => {
  const context = mkdtempSync(join(base, 'context-'))
  const root = mkdtempSync(join(base, 'image-'))
  writeApplication(context, tarball, manifest.dependencies)
  const [port, metrics] = [await freePort(), await freePort()]
  const image = readImage(join(installed, 'docs/deploy/Dockerfile'), {
    ...{ '/app': join(root, 'app'), '/data': join(root, 'data'), 'HOST=0.0.0.0': 'HOST=127.0.0.1' },
    ...{ ' && chown node:node': '; :', '8700': `${port}`, '9100': `${metrics}` },
  })
  expect([image.user, image.ports]).toEqual(['node', [port, metrics]])
  const npm = { npm_config_prefer_offline: 'true', npm_config_audit: 'false' }
  const env = { ...process.env, ...npm, CONTEXT: context }
  const built = spawnSync('sh', ['-c', image.script], { env, encoding: 'utf8' })
  expect(built.stderr.replaceAll(/^npm (warn|notice).*\n/gm, '')).toBe('')
  expect(built.status).toBe(0)

  const place = { PORT: `${port}`, METRICS_PORT: `${metrics}` }
  const inside = { cwd: image.workdir, env: { ...process.env, ...image.env, ...place } }
  const [program, ...words] = image.command
  const child = spawn(program!, words, { ...inside, stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  await once(createInterface({ input: child.stdout }), 'line')
  const [check, ...how] = image.health
  const isWell = (): boolean => spawnSync(check!, how, { stdio: 'ignore' }).status === 0
  expect(isWell()).toBe(true)
  const server = `http://127.0.0.1:${port}`
  expect(await (await fetch(`${server}/health`)).json()).toMatchObject({ ok: true })
  expect(await (await fetch(server)).text()).toBe('<title>Duel</title>')
  const ada = await joinRoom({ game: 'duel', keepRoom: '30d', types: [], server, udp: null })
  await until(() => ada.safety === 'kept')
  const figures = await (await fetch(`http://127.0.0.1:${metrics}/`)).text()
  expect(figures).toContain('holdfast_kept_rooms 1\n')
  expect(readdirSync(join(root, 'data'))).toContain('hub.db')
  await ada.leave()
  child.kill('SIGTERM')
  expect(await once(child, 'exit')).toEqual([0, null])
  expect(isWell()).toBe(false)
})

describe('apps of the templates (AP-16)', () => {
  const apps = join(base, 'apps')
  const npm = (template: string, ...args: string[]): void => {
    const { status, stdout } = spawnSync('npm', args, {
      cwd: join(apps, template),
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    if (status !== 0) throw new Error(stdout)
  }

  beforeAll(() => templates.createAll(apps, tarball), 600_000)

  test.each(templates.NAMES)(
    '%s: needs nothing but what it names, passes its test, and is built from the tarball alone',
    { timeout: 600_000 },
    (template) => {
      expect(templates.strays(join(apps, template))).toEqual([])
      npm(template, 'test')
      npm(template, 'run', 'build')
      templates.addOption(join(apps, template))
    },
  )

  test.each(templates.NAMES)(
    '%s: `npm run dev` prints a link for each window',
    async (template) => {
      const words = [join(apps, 'node_modules/vite/bin/vite.js'), '--port', `${await freePort()}`]
      const child = spawn(process.execPath, words, {
        ...{ cwd: join(apps, template), env: { ...process.env, NO_COLOR: '1' } },
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      try {
        const line = await said(child, '?name=Grace')
        expect((await fetch(line.trim())).status).toBe(200)
      } finally {
        await killed(child)
      }
    },
  )

  test.each(templates.NAMES)('%s: is played in two browsers, without the one that served', (name) =>
    templates.play(join(apps, name), name),
  )

  test.each(['canvas', 'react'] as const)(
    '%s: shows its link where there is no clipboard, and one joins by it',
    (name) => templates.invite(join(apps, name), name),
  )

  test('canvas: a bot plays beside a window, serves after it, and leaves at Ctrl-C', () =>
    templates.playWithBot(join(apps, 'canvas')))

  test.for(templates.NAMES)(
    '%s: is played through nginx, at a path, and handed over',
    async (name, context) => {
      const missing = lacking(['nginx'])
      if (missing !== '') context.skip(`not here: ${missing}`) // needs nginx
      await templates.playBelow(join(apps, name), name)
    },
  )

  test.each(['canvas', 'server'] as const)(
    '%s: of a clone, its Dockerfile makes an image of the app alone',
    { timeout: 600_000 },
    async (name) => {
      const app = join(base, 'cloned', name)
      expect(templates.createFromClone(app, name)).toMatch(/^file:vendor\/holdfast-.*\.tgz$/)
      const port = await freePort()
      const root = mkdtempSync(join(base, 'image-'))
      const child = templates.runImage(app, root, port)
      try {
        await said(child, `127.0.0.1:${port}`)
        const page = await fetch(`http://127.0.0.1:${port}/`)
        expect(await page.text()).toMatch(/<script type="module".* src="\.\/assets\//)
      } finally {
        await killed(child)
      }
    },
  )

  test('a clone that is not built says so, and leaves the folder empty', () => {
    const [app, clone] = [join(base, 'unbuilt-app'), mkdtempSync(join(base, 'unbuilt-'))]
    const words = [resolve('packages/create/index.js'), app, '--holdfast', clone]
    const { status, stderr } = run(...words)
    expect([status, stderr]).toEqual([
      2,
      `create-holdfast: ${clone} is not built: run npm install && npm run build in the clone\n`,
    ])
    expect(existsSync(app)).toBe(false)
  })

  test('server: the room goes on when its process is killed and started again', () =>
    templates.restart(join(apps, 'server')))
})

describe('a release (AP-16)', () => {
  const git = (...words: string[]): string => {
    return execFileSync('git', words, { cwd: tree, encoding: 'utf8' }).trim()
  }
  const release = (...words: string[]): ReturnType<typeof run> => {
    const program = resolve('build/tools/release/main.js')
    const skipped = ['--skip', 'test', '--skip', 'test:all']
    const options = { cwd: tree, encoding: 'utf8' } as const
    return spawnSync(process.execPath, [program, ...skipped, ...words], options)
  }
  const state = (): string[] => [
    git('rev-parse', 'HEAD'),
    git('tag'),
    git('status', '--porcelain'),
    ...own(digestsOf(tree)).filter((line) => !line.includes(' .git/')),
  ]

  beforeAll(() => {
    execFileSync(process.execPath, ['node_modules/typescript/bin/tsc', '-p', 'tools'])
    git('init', '--quiet', '--initial-branch', 'main')
    git('config', 'user.name', 'Ada')
    git('config', 'user.email', 'ada@example.com')
    git('add', '--all')
    git('commit', '--quiet', '--message', 'all')
  }, 600_000)

  test('is refused where there are changes, and on another branch', () => {
    writeFileSync(join(tree, 'new.txt'), '')
    git('switch', '--quiet', '--create', 'side')
    const { status, stderr } = release('--dry-run')
    expect([status, stderr]).toEqual([
      1,
      'release: there are changes without a commit, such as ?? new.txt\n' +
        'the branch is side, not main\n',
    ])
    git('switch', '--quiet', 'main')
    rmSync(join(tree, 'new.txt'))
    expect(release('--skip', 'lint').stderr).toContain('there is no check "lint"')
  })

  test('is shown by a dry run, which changes nothing', { timeout: 600_000 }, () => {
    const was = state()
    const { status, stdout, stderr } = release('--dry-run')
    expect([status, stderr.includes('release: ')]).toEqual([0, false])
    console.info(stdout)
    expect(state()).toEqual(was)
    expect(stdout).toContain('npm run test:all: skipped')
    for (const name of ['holdfast', 'create-holdfast']) {
      const line = new RegExp(
        `build/release/${name}-0\\.\\d+\\.0\\.tgz: [\\d,]+ bytes \\(\\d+ files`,
      )
      expect(stdout).toMatch(line)
      expect(stdout).toMatch(new RegExp(`npm publish .*${name}-0\\.\\d+\\.0\\.tgz`))
    }
    expect(stdout.match(/sha512-\S+/g)).toHaveLength(2)
  })

  test(
    'is a commit with a tag, whose versions are those of the tarballs',
    { timeout: 600_000 },
    () => {
      const { status, stderr } = release()
      expect([status, stderr.includes('release: ')]).toEqual([0, false])
      const [version = ''] = /\d+\.\d+\.\d+$/.exec(git('tag')) ?? []
      expect(git('show', '--no-patch', '--format=%s', 'HEAD')).toBe(`release: ${version}`)
      expect(git('rev-parse', 'HEAD')).toBe(git('rev-parse', `v${version}^{}`))
      expect(git('status', '--porcelain')).toBe('')
      for (const path of ['package-lock.json', 'packages/create/package.json']) {
        expect(git('show', `HEAD:${path}`)).not.toContain(`${version}-dev`)
      }
      expect(readFileSync(join(tree, 'CHANGELOG.md'), 'utf8')).toMatch(
        new RegExp(`^## ${version} \\(\\d{4}-\\d\\d-\\d\\d\\)$`, 'm'),
      )
      for (const name of ['holdfast', 'create-holdfast']) {
        const path = join(tree, `build/release/${name}-${version}.tgz`)
        const args = ['-xzOf', path, 'package/package.json']
        const text = execFileSync('tar', args, { encoding: 'utf8' })
        expect(JSON.parse(text)).toMatchObject({ name, version })
      }
      expect(release().stderr).toContain('without -dev')
    },
  )
})
