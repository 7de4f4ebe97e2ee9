#!/usr/bin/env node
/** `npm create holdfast`: copies a template into a new folder, and says what to run there. */

import { spawnSync } from 'node:child_process'
import { copyFileSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { basename, join, relative, resolve } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const TEMPLATES = {
  canvas: 'a small arena on a canvas, in plain TypeScript',
  react: 'a board with notes that several people edit, in React',
  three: 'a small arena in three dimensions, with three.js',
  table: 'a table with a deck of cards and hidden hands, for mouse, touch and keys',
  server: 'a private chat: login, tickets and hub in one Express server',
}

/** Folders of templates/ that make one up: of a file in several the last counts. */
const PARTS = {
  canvas: ['common', 'page', 'arena', 'canvas'],
  react: ['common', 'react'],
  three: ['common', 'page', 'arena', 'three'],
  table: ['common', 'page', 'table'],
  server: ['common', 'page', 'server'],
}

const HELP = `Usage: npm create holdfast [folder] -- [options]

  folder                 where the app goes; it must be empty or new
  --template <name>      one of those below; canvas if there is nobody to ask
  --holdfast <version>   the holdfast to install: a version, or the path of a folder or tarball
  --help                 this text

Templates:
${templateLines()}`

const here = fileURLToPath(new URL('.', import.meta.url))

function templateLines() {
  return Object.entries(TEMPLATES)
    .map(([name, what]) => `  ${name.padEnd(8)} ${what}`)
    .join('\n')
}

class Mistake extends Error {}

/** Reads the command line, and on a terminal asks for what is missing. @returns null for --help */
async function wishes() {
  let parsed
  try {
    parsed = parseArgs({
      allowPositionals: true,
      options: {
        template: { type: 'string' },
        holdfast: { type: 'string' },
        help: { type: 'boolean' },
      },
    })
  } catch (error) {
    throw new Mistake(error.message)
  }
  const { values, positionals } = parsed
  if (values.help) return null
  if (positionals.length > 1) throw new Mistake(`one folder is created: ${positionals.join(', ')}`)
  let [folder] = positionals
  let { template } = values
  if (process.stdin.isTTY && (folder === undefined || template === undefined)) {
    const lines = createInterface({ input: process.stdin, output: process.stdout })
    lines.once('SIGINT', () => process.exit(130))
    lines.once('close', () => {
      if (folder === undefined || template === undefined) process.exit(130)
    })
    folder ??= (await lines.question('Folder (my-game): ')) || 'my-game'
    if (template === undefined) {
      console.log(templateLines())
      template = (await lines.question('Template (canvas): ')) || 'canvas'
    }
    lines.close()
  }
  return { folder: folder ?? 'my-game', template: template ?? 'canvas', holdfast: values.holdfast }
}

/**
 * What the app depends on. A folder or a tarball is packed into its `vendor/`, so that the app can
 * be built where nothing else is, as in a container. In a clone that is the clone's package, for
 * Holdfast is in no registry.
 */
function specOf(given, vendor) {
  const clone = join(here, '../holdfast')
  if (given === undefined && existsSync(join(clone, 'src'))) return packed(clone, vendor)
  if (given === undefined) {
    return `^${JSON.parse(readFileSync(join(here, 'package.json'), 'utf8')).version}`
  }
  return existsSync(given) ? packed(resolve(given), vendor) : given
}

function packed(path, vendor) {
  const isFolder = statSync(path).isDirectory()
  if (isFolder && !existsSync(join(path, 'dist'))) {
    throw new Mistake(`${path} is not built: run npm install && npm run build in the clone`)
  }
  mkdirSync(vendor, { recursive: true })
  if (isFolder) pack(path, vendor)
  else copyFileSync(path, join(vendor, basename(path)))
  return `file:vendor/${readdirSync(vendor)[0]}`
}

/** Packs it as it is built: without its scripts that takes a second. */
function pack(folder, vendor) {
  const isWindows = process.platform === 'win32'
  const path = isWindows ? `"${folder}"` : folder
  const { status, error, stderr } = spawnSync(
    'npm',
    ['pack', '--ignore-scripts', '--silent', path],
    { cwd: vendor, encoding: 'utf8', shell: isWindows },
  )
  if (status === 0) return
  rmSync(vendor, { recursive: true })
  throw new Mistake(`npm pack ${folder} failed: ${error?.message ?? stderr.trim()}`)
}

function create({ folder, template, holdfast }) {
  if (!Object.hasOwn(TEMPLATES, template)) {
    throw new Mistake(`there is no template "${template}"; there are:\n${templateLines()}`)
  }
  const target = resolve(folder)
  if (existsSync(target)) {
    if (!statSync(target).isDirectory()) throw new Mistake(`${target} is a file`)
    const isEmpty = readdirSync(target).every((name) => name === '.git')
    if (!isEmpty) throw new Mistake(`${target} is not empty`)
  }
  const name = basename(target)
    .toLowerCase()
    .replaceAll(/[^a-z0-9-]+/g, '-')
  // First, for it may fail: then the folder stays empty.
  const spec = specOf(holdfast, join(target, 'vendor'))
  for (const part of PARTS[template]) {
    cpSync(join(here, 'templates', part), target, { recursive: true })
  }
  // npm leaves files of this name out of packages.
  renameSync(join(target, '_gitignore'), join(target, '.gitignore'))
  const path = join(target, 'package.json')
  const manifest = JSON.parse(readFileSync(path, 'utf8'))
  manifest.name = name || 'my-game'
  manifest.dependencies.holdfast = spec
  writeFileSync(path, `${JSON.stringify(manifest, null, 2)}\n`)
  return target
}

try {
  const wished = await wishes()
  if (wished === null) console.log(HELP)
  else {
    const target = create(wished)
    console.log(`Created ${target} from the template ${wished.template}. Now run:

  cd ${relative(process.cwd(), target) || '.'}
  npm install
  npm run dev

and open the printed links, each in a window.`)
  }
} catch (error) {
  if (!(error instanceof Mistake)) throw error
  console.error(`create-holdfast: ${error.message}`)
  process.exitCode = 2
}
