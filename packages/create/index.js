#!/usr/bin/env node
/** `npm create holdfast`: copies a template into a new folder, and says what to run there. */

import { cpSync, existsSync, readdirSync, readFileSync } from 'node:fs'
import { renameSync, statSync, writeFileSync } from 'node:fs'
import { basename, join, relative, resolve, sep } from 'node:path'
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

/** In a clone the app installs the clone's package, as long as Holdfast is in no registry. */
function versionFor(target) {
  const clone = join(here, '../holdfast')
  if (existsSync(join(clone, 'src'))) return fileSpec(target, clone)
  return `^${JSON.parse(readFileSync(join(here, 'package.json'), 'utf8')).version}`
}

function specOf(given, target) {
  if (given === undefined) return versionFor(target)
  return existsSync(given) ? fileSpec(target, resolve(given)) : given
}

function fileSpec(target, path) {
  return `file:${relative(target, path).split(sep).join('/')}`
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
  for (const part of PARTS[template]) {
    cpSync(join(here, 'templates', part), target, { recursive: true })
  }
  // npm leaves files of this name out of packages.
  renameSync(join(target, '_gitignore'), join(target, '.gitignore'))
  const path = join(target, 'package.json')
  const manifest = JSON.parse(readFileSync(path, 'utf8'))
  manifest.name = name || 'my-game'
  manifest.dependencies.holdfast = specOf(holdfast, target)
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
