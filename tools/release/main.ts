/**
 * `npm run release`: makes the commit, the tag and the tarballs of a version, and prints the
 * command that publishes them. All is made in a clone: a step that fails changes nothing here.
 */

import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { attwOf, publintOf } from '../published.ts'
import { freeze } from './freeze.ts'

const HELP = `Usage: npm run release -- [options]

Makes the version that the package.json of packages/holdfast names, without -dev.

  --dry-run       changes nothing here: prints the plan, and packs into build/release
  --skip <check>  leaves out a check, test or test:all; may be given twice
  --freeze        only bundles this version into test/data, as a release X.Y.0 does
  --help          this text`

const CHECKS = ['test', 'test:all']
const PACKAGES = ['holdfast', 'create-holdfast']
const FOLDERS: Readonly<Record<string, string>> = {
  holdfast: 'packages/holdfast',
  'create-holdfast': 'packages/create',
}
const OUT = 'build/release'
const UNRELEASED = '## Unreleased'

const root = resolve('.')

class Refusal extends Error {}

interface Options {
  isDry: boolean
  freezes: boolean
  skipped: readonly string[]
}

/** What `npm pack --json` says of a tarball. */
interface Packed {
  name: string
  filename: string
  size: number
  unpackedSize: number
  entryCount: number
  integrity: string
}

function git(folder: string, ...words: string[]): string {
  return execFileSync('git', words, { cwd: folder, encoding: 'utf8' }).trim()
}

function say(step: string, what: string): void {
  console.log(`${step.padEnd(10)}${what}`)
}

function optionsOf(words: string[]): Options | null {
  try {
    const { values } = parseArgs({
      args: words,
      options: {
        'dry-run': { type: 'boolean' },
        skip: { type: 'string', multiple: true },
        freeze: { type: 'boolean' },
        help: { type: 'boolean' },
      },
    })
    if (values.help) return null
    const { skip: skipped = [] } = values
    const strange = skipped.find((name) => !CHECKS.includes(name))
    if (strange !== undefined) throw new Error(`there is no check "${strange}"`)
    return { isDry: values['dry-run'] ?? false, freezes: values.freeze ?? false, skipped }
  } catch (error) {
    throw new Refusal(`${(error as Error).message}\n\n${HELP}`)
  }
}

function versionNow(): string {
  const text = readFileSync(join(root, FOLDERS['holdfast']!, 'package.json'), 'utf8')
  const { version } = JSON.parse(text) as { version: string }
  if (!version.endsWith('-dev')) throw new Refusal(`the version is ${version}, without -dev`)
  return version
}

/** Why the tree here is in no state to be released; empty if it is. */
function faultsOf(version: string): string[] {
  const faults: string[] = []
  const changed = git(root, 'status', '--porcelain').split('\n')[0]
  if (changed) faults.push(`there are changes without a commit, such as ${changed.trim()}`)
  const branch = git(root, 'rev-parse', '--abbrev-ref', 'HEAD')
  if (branch !== 'main') faults.push(`the branch is ${branch}, not main`)
  if (git(root, 'tag', '--list', `v${version}`)) faults.push(`there is a tag v${version} already`)
  const changelog = readFileSync(join(root, 'CHANGELOG.md'), 'utf8')
  if (!changelog.includes(`\n${UNRELEASED}\n`)) faults.push(`CHANGELOG.md has no "${UNRELEASED}"`)
  return faults
}

function check(name: string, { skipped }: Options): void {
  if (skipped.includes(name)) return say('check', `npm run ${name}: skipped`)
  const { status } = spawnSync('npm', ['run', name], { cwd: root, stdio: ['ignore', 2, 2] })
  if (status !== 0) throw new Refusal(`npm run ${name} failed`)
  say('check', `npm run ${name}: passed`)
}

/** Writes the version into a clone, and commits and tags it there. */
async function commit(clone: string, before: string, version: string): Promise<void> {
  const quoted = (text: string): string => `"version": "${text}"`
  const found = git(
    clone,
    'grep',
    '-l',
    quoted(before),
    '--',
    '*package.json',
    '*package-lock.json',
  )
  const files = found.split('\n')
  const replace = (path: string, from: string, to: string): void => {
    const text = readFileSync(join(clone, path), 'utf8')
    writeFileSync(join(clone, path), text.replaceAll(from, to))
  }
  for (const path of files) replace(path, quoted(before), quoted(version))
  const day = new Date().toISOString().slice(0, 10)
  const heading = `## ${version} (${day})`
  replace('CHANGELOG.md', `\n${UNRELEASED}\n`, `\n${heading}\n`)
  say('version', `${before} is ${version} in ${files.join(', ')}`)
  say('changes', `"${UNRELEASED}" is "${heading}" in CHANGELOG.md`)
  // Later builds must play with a minor version as it was first released.
  if (version.endsWith('.0')) {
    for (const line of await freeze(clone)) say('freeze', line)
    git(clone, 'add', 'test/data')
  }
  const who = ['name', 'email'].flatMap((key) => ['-c', `user.${key}=${userOf(key)}`])
  git(clone, ...who, 'commit', '--quiet', '--all', '--message', `release: ${version}`)
  git(clone, ...who, 'tag', '--annotate', `v${version}`, '--message', `Holdfast ${version}`)
  say('commit', `${git(clone, 'rev-parse', '--short', 'HEAD')} "release: ${version}"`)
  say('tag', `v${version}`)
}

function userOf(key: string): string {
  const name = git(root, 'config', '--default', '', `user.${key}`)
  if (name === '') throw new Refusal(`git has no user.${key}, which a commit needs`)
  return name
}

function packed(clone: string, name: string): Packed {
  const out = join(root, OUT)
  const words = ['pack', '--workspace', name, '--json', '--pack-destination', out]
  // npm's own words, and those of the build, go where a log belongs.
  const text = execFileSync('npm', words, { cwd: clone, stdio: ['ignore', 'pipe', 2] })
  const said = JSON.parse(String(text)) as Packed[] | Record<string, Packed>
  const [one] = Array.isArray(said) ? said : Object.values(said)
  return one!
}

/** Builds and packs both packages of a clone, and asks the tools that know packages. */
async function pack(clone: string): Promise<string[]> {
  rmSync(join(root, OUT), { recursive: true, force: true })
  mkdirSync(join(root, OUT), { recursive: true })
  const paths: string[] = []
  for (const name of PACKAGES) {
    const { filename, size, unpackedSize, entryCount, integrity } = packed(clone, name)
    const path = join(OUT, filename)
    const unpacked = `${entryCount} files, unpacked ${figure(unpackedSize)}`
    say('tarball', `${path}: ${figure(size)} bytes (${unpacked})`)
    say('', integrity)
    const folder = join(clone, 'build/unpacked', name)
    mkdirSync(folder, { recursive: true })
    execFileSync('tar', ['-xzf', path, '-C', folder, '--strip-components=1'], { cwd: root })
    const words = [
      ...(await publintOf(folder)),
      ...(name === 'holdfast' ? await attwOf(folder) : []),
    ]
    if (words.length > 0) throw new Refusal(words.join('\n'))
    paths.push(path)
  }
  say('lint', 'publint and Are the Types Wrong found nothing')
  return paths
}

function figure(bytes: number): string {
  return bytes.toLocaleString('en')
}

async function release(options: Options): Promise<void> {
  const before = versionNow()
  const version = before.replace(/-dev$/, '')
  console.log(`Release of ${version}${options.isDry ? ', a dry run: nothing changes here' : ''}`)
  const faults = faultsOf(version)
  if (faults.length > 0) throw new Refusal(faults.join('\n'))
  say('tree', `clean, on main, at ${git(root, 'rev-parse', '--short', 'HEAD')}`)
  const head = git(root, 'rev-parse', 'HEAD')
  for (const name of CHECKS) check(name, options)
  if (git(root, 'rev-parse', 'HEAD') !== head) {
    throw new Refusal(
      'main moved during the checks, so its newest commit is not checked: run again',
    )
  }
  const base = mkdtempSync(join(tmpdir(), 'holdfast-release-'))
  const clone = join(base, 'clone')
  try {
    git(root, 'clone', '--quiet', '--shared', '--branch', 'main', root, clone)
    symlinkSync(join(root, 'node_modules'), join(clone, 'node_modules'))
    await commit(clone, before, version)
    const paths = await pack(clone)
    if (!options.isDry) {
      // The tag comes last: without the commit on main there is none.
      git(root, 'fetch', '--quiet', '--no-tags', clone, 'main')
      git(root, 'merge', '--quiet', '--ff-only', 'FETCH_HEAD')
      git(root, 'fetch', '--quiet', clone, `refs/tags/v${version}:refs/tags/v${version}`)
    }
    console.log(`\n${last(version, paths, options)}`)
  } finally {
    rmSync(base, { recursive: true, force: true })
  }
}

function last(version: string, paths: readonly string[], { isDry }: Options): string {
  const publish = paths.map((path) => `npm publish ./${path}`).join(' && ')
  const now = isDry
    ? 'A run without --dry-run puts the commit and the tag here. Then this publishes:'
    : 'The commit and the tag are here. This publishes, with the password of the registry:'
  return `${now}\n  ${publish} && git push origin main v${version}`
}

try {
  const options = optionsOf(process.argv.slice(2))
  if (!options) console.log(HELP)
  else if (options.freezes) for (const line of await freeze(root)) say('freeze', line)
  else await release(options)
} catch (error) {
  if (!(error instanceof Refusal)) throw error
  console.error(`release: ${error.message}`)
  process.exitCode = 1
}
