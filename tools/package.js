// npm's `prepack` and `postpack`: while npm packs, `dist` is the package; then it is again what it
// was, for it belongs to whoever works here.
//
// The package has what its doors and its program reach, and no other file. JavaScript goes without
// comments, indented by one character, and without source maps, which would double it: names and
// lines stay readable, and the declarations of what a door hands out, and of all faces, keep what
// they say of it. Pages: the list of rooms alone.

import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { writeFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { transformWithOxc } from 'vite'

const BEFORE = 'build/dist-before-packing'
const PROJECT = 'build/tsconfig.package.json'

function putBack() {
  if (existsSync(BEFORE)) {
    rmSync('dist', { recursive: true, force: true })
    renameSync(BEFORE, 'dist')
  }
}

function node(...words) {
  // What npm prints of a package may be read by a script: nothing else goes there.
  const stdio = ['ignore', 2, 2]
  const { status } = spawnSync(process.execPath, words, { stdio })
  if (status !== 0) throw new Error(`${words.join(' ')} failed: nothing is packed`)
}

/** All paths of a part of package.json that lead into dist. */
function leads(part) {
  if (typeof part === 'object') return Object.values(part).flatMap(leads)
  return [normalize(part)]
}

const ANY = /(?:\bfrom|\bimport) ?\(?['"](\.[^'"]+)['"]/g
const HANDED_OUT = /\bexport [^;]*?\bfrom ['"](\.[^'"]+)['"]/g

/** What files lead to, themselves among them; types count in declarations, and not in code. */
function reached(files, ending, ways = ANY) {
  const found = new Set(files.filter((path) => path.endsWith(ending)))
  // A set that grows while it is walked through.
  for (const path of found) {
    const text = readFileSync(path, 'utf8')
    for (const [, to] of text.matchAll(ways)) {
      found.add(join(dirname(path), to).replace(/(\.d)?\.[jt]s$/, ending))
    }
  }
  return found
}

// Declarations without the head of their file, which is for who reads the source, and indented by
// one character for four; without any comment where no user meets them.
function shortened(text, isMet) {
  const indent = ({ length }) => ' '.repeat(Math.ceil(length / 4))
  return (isMet ? text : text.replace(/^ *\/\*\*(?:(?!\*\/)[^])*\*\/\n/gm, ''))
    .replace(/^\/\*\*(?:(?!\*\/)[^])*\*\/\s*(?=import |export (?:type )?[{*])/, '')
    .replace(/^ +/gm, indent)
}

async function reprint(path, met) {
  const text = readFileSync(path, 'utf8')
  const isMet = met.has(path) || path.startsWith(join('dist', 'faces'))
  if (path.endsWith('.d.ts')) return writeFileSync(path, shortened(text, isMet))
  const { code } = await transformWithOxc(text, path, { sourcemap: false })
  writeFileSync(path, code)
}

async function pack() {
  putBack()
  mkdirSync('build', { recursive: true })
  mkdirSync('dist', { recursive: true })
  renameSync('dist', BEFORE)
  const { exports, bin } = JSON.parse(readFileSync('package.json', 'utf8'))
  const entries = [...leads(exports), ...leads(bin)]
  const code = entries.filter((path) => path.endsWith('.js'))
  const files = code.map((path) => `../src/${path.slice('dist/'.length, -'.js'.length)}.ts`)
  const compilerOptions = { composite: false, tsBuildInfoFile: null, incremental: false }
  const project = { extends: '../src/tsconfig.json', compilerOptions, files, include: [] }
  writeFileSync(PROJECT, JSON.stringify(project))
  const tsc = ['node_modules/typescript/bin/tsc', '-p', PROJECT]
  node(...tsc, '--emitDeclarationOnly')
  node(...tsc, '--declaration', 'false', '--removeComments')
  const kept = new Set([...reached(entries, '.js'), ...reached(entries, '.d.ts')])
  const met = reached(entries, '.d.ts', HANDED_OUT)
  for (const path of readdirSync('dist', { recursive: true }).map((inner) => join('dist', inner))) {
    if (/\.[jt]s$/.test(path) && !kept.has(path)) rmSync(path)
    else if (/\.[jt]s$/.test(path)) await reprint(path, met)
  }
  node('node_modules/vite/bin/vite.js', 'build', '--mode', 'lobby', '--logLevel', 'warn')
}

if (process.argv[2] === '--after') putBack()
else {
  try {
    await pack()
  } catch (error) {
    // npm runs no `postpack` then. Who is killed in between finds it put back by the next packing.
    putBack()
    throw error
  }
}
