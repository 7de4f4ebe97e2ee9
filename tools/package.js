// npm's `prepack` and `postpack` of packages/holdfast: while npm packs, its `dist` is the package,
// and the papers stand beside it; then all is again what it was, for it belongs to whoever works
// here.
//
// The package has what its doors and its program reach, and no other file. JavaScript goes without
// comments and indented by one character; its source maps have the TypeScript that it was made of.
// What a door hands out, and all faces, keep in their declarations and in these sources what they
// say of it; the comments of all others are in the repository. Pages: the list of rooms alone.

import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync } from 'node:fs'
import { rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { decode, encode } from '@jridgewell/sourcemap-codec'
import { transformWithOxc } from 'vite'
import { shortened } from './declarations.js'
import { addPapers, removePapers } from './papers.js'

process.chdir(fileURLToPath(new URL('..', import.meta.url)))

const PACKAGE = 'packages/holdfast'
const DIST = `${PACKAGE}/dist`
const BEFORE = 'build/dist-before-packing'
const PROJECT = 'build/tsconfig.package.json'

function putBack() {
  if (!existsSync(BEFORE)) return
  rmSync(DIST, { recursive: true, force: true })
  renameSync(BEFORE, DIST)
  removePapers(PACKAGE)
}

function node(...words) {
  // What npm prints of a package may be read by a script: nothing else goes there.
  const stdio = ['ignore', 2, 2]
  const { status } = spawnSync(process.execPath, words, { stdio })
  if (status !== 0) throw new Error(`${words.join(' ')} failed: nothing is packed`)
}

/** All paths of a part of its package.json that lead into dist, from the root. */
function leads(part) {
  if (typeof part === 'object') return Object.values(part).flatMap(leads)
  return [join(PACKAGE, part)]
}

/** What a user holds. */
const KINDS = 'kind|join|objects|pieces|actions|calls|slots|custom'
const FACES = new RegExp(`/(holdfast/src/(${KINDS})|hub/src|mailbox/src)/[^/]+$`)

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

async function reprint(path, met) {
  const text = readFileSync(path, 'utf8')
  const isMet = met.has(path) || FACES.test(path)
  if (path.endsWith('.d.ts')) return writeFileSync(path, shortened(text, isMet))
  const from = JSON.parse(readFileSync(`${path}.map`, 'utf8'))
  const options = { sourcemap: true }
  const { code, map } = await transformWithOxc(
    text.replace(COMMENT_OF_MAP, ''),
    path,
    options,
    from,
  )
  // As if the source stood beside: that is where debuggers and traces show it.
  const sources = [basename(path).replace(/js$/, 'ts')]
  const sourcesContent = isMet ? map.sourcesContent : map.sourcesContent.map(withoutPapers)
  const mappings = encode(decode(map.mappings).map(linesOnly))
  const own = { version: 3, sources, sourcesContent, names: [], mappings }
  writeFileSync(`${path}.map`, JSON.stringify(own))
  writeFileSync(path, `${code}//# sourceMappingURL=${basename(path)}.map\n`)
}

// The lines stay where they are.
function withoutPapers(text) {
  return text.replace(/\/\*\*[^]*?\*\//g, (paper) => paper.replace(/[^\n]/g, ''))
}

// Where another line of the source begins: columns and names are nine tenths of a map.
function linesOnly(segments) {
  const isFirst = ([, , line], at) => line !== segments[at - 1]?.[2]
  return segments.filter(isFirst).map(([column, source, line]) => [column, source, line, 0])
}

const COMMENT_OF_MAP = /\n\/\/# sourceMappingURL=.*\s*$/

async function pack() {
  putBack()
  mkdirSync('build', { recursive: true })
  mkdirSync(DIST, { recursive: true })
  renameSync(DIST, BEFORE)
  addPapers(PACKAGE)
  const { exports, bin } = JSON.parse(readFileSync(`${PACKAGE}/package.json`, 'utf8'))
  const entries = [...leads(exports), ...leads(bin)]
  const code = entries.filter((path) => path.endsWith('.js'))
  const files = code.map((path) => `../packages/${path.slice(DIST.length + 1, -'.js'.length)}.ts`)
  const compilerOptions = { composite: false, tsBuildInfoFile: null, incremental: false }
  const project = {
    extends: '../packages/tsconfig.json',
    compilerOptions,
    files,
    include: [],
  }
  writeFileSync(PROJECT, JSON.stringify(project))
  const tsc = ['node_modules/typescript/bin/tsc', '-p', PROJECT]
  node(...tsc, '--emitDeclarationOnly')
  node(...tsc, '--declaration', 'false', '--removeComments', '--sourceMap', '--inlineSources')
  const kept = new Set([...reached(entries, '.js'), ...reached(entries, '.d.ts')])
  const met = reached(entries, '.d.ts', HANDED_OUT)
  for (const path of readdirSync(DIST, { recursive: true }).map((inner) => join(DIST, inner))) {
    if (!existsSync(path) || !/\.(?:[jt]s|js\.map)$/.test(path)) continue
    if (!kept.has(path.replace(/\.map$/, ''))) rmSync(path)
    else if (!path.endsWith('.map')) await reprint(path, met)
  }
  node('node_modules/vite/bin/vite.js', 'build', 'games', '--mode', 'lobby', '--logLevel', 'warn')
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
