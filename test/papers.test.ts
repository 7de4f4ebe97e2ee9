/**
 * What the papers say is so: their examples pass the type checker, their links lead somewhere, and
 * their tables name all that there is.
 */

import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import * as svelte from 'svelte/compiler'
import { describe, expect, test } from 'vitest'
import * as vue from 'vue/compiler-sfc'
import { isPage, rewritten, sidebar } from '../docs/.vitepress/contents.ts'
import { anchorOf } from '../docs/.vitepress/markdown.ts'
import { ERRORS, OUTCOMES, type Row } from '../packages/holdfast/src/codes.ts'
import type { ListingEvents, ObjectEvents, PieceEvents } from '../packages/holdfast/src/index.ts'
import type { NodeJoinOptions } from '../packages/holdfast/src/node.ts'
import type { SessionEvents, SlotsEvents, TableEvents } from '../packages/holdfast/src/index.ts'
import { LAYERS } from '../tools/tidy/layers.ts'
import { read, written } from '../tools/tidy/codebase.ts'
import {
  type Component,
  components,
  examplesOf,
  nameOf,
  snippets,
  writeSnippets,
} from './snippets.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const papers = written(root).filter((path) => path.endsWith('.md'))
const guide = papers.filter((path) => path.startsWith('docs/guide/'))

/** What stands in code in the first cells of the tables under a heading. */
function namesUnder(path: string, heading: string): string[] {
  const [, section = ''] = read(root, path).split(new RegExp(`^#+ ${heading}$`, 'm'))
  const [body = ''] = section.split(/^#+ /m)
  const cells = [...body.matchAll(/^\| ([^|]*) \|/gm)].map(([, cell = '']) => cell)
  return cells.flatMap((cell) => [...cell.matchAll(/`([\w-]+)/g)].map(([, name = '']) => name))
}

function namesOf(all: Record<string, true>): string[] {
  return Object.keys(all).toSorted()
}

/** Compiles a component. @returns what its compiler complains about */
function complaintsOf({ language, code }: Component): unknown[] {
  if (language === 'svelte') return svelte.compile(code, { filename: 'Example.svelte' }).warnings
  const { descriptor, errors } = vue.parse(code)
  if (errors.length === 0) vue.compileScript(descriptor, { id: 'example', inlineTemplate: true })
  return errors
}

describe('the examples', () => {
  test('of all pages for users pass the type checker (DO-2) (DO-20)', () => {
    const examples = snippets()
    expect(examples.length).toBeGreaterThan(40)
    writeSnippets('papers', examples, ({ code }) => code)
    const folder = join(root, 'build/papers')
    // A block whose first line names its file is imported by components.
    for (const { code } of examples) {
      const [, name] = /^\/\/ (\S+\.ts)\n/.exec(code) ?? []
      if (name) writeFileSync(join(folder, name), code)
    }
    for (const [index, { path, language, script }] of components().entries()) {
      const name = nameOf({ path: `${path}-${language}`, index })
      writeFileSync(join(folder, `${name}.ts`), script)
    }
    const options = {
      extends: '../../tsconfig.base.json',
      compilerOptions: {
        ...{ noEmit: true, composite: false, incremental: false, declaration: false },
        ...{ isolatedDeclarations: false, rewriteRelativeImportExtensions: false },
        ...{ noUnusedLocals: false, jsx: 'react-jsx' },
        // Of a page alone: with those of workers an event is less.
        lib: ['ES2023', 'ESNext.Disposable', 'DOM', 'DOM.Iterable'],
      },
      include: ['*.ts', '*.tsx'],
    }
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(options))
    const tsc = join(root, 'node_modules/typescript/bin/tsc')
    const { stdout } = spawnSync(process.execPath, [tsc, '-p', folder], { encoding: 'utf8' })
    expect(stdout).toBe('')
  })
  test('in Svelte and Vue compile without a warning', () => {
    expect(components().map(({ language }) => language)).toEqual(['svelte', 'vue'])
    expect(components().flatMap(complaintsOf)).toEqual([])
  })
  test('are found, also in a list', () => {
    expect(examplesOf('1. It:\n\n   ```ts\n   a\n     b\n   ```\n')).toEqual([
      { language: 'ts', code: 'a\n  b\n' },
    ])
  })
})

test('every page of the docs has its line beside the pages of the site', () => {
  const links = Object.values(sidebar(root)).flatMap((groups) => {
    return (groups as { items: { link: string }[] }[]).flatMap(({ items }) => items)
  })
  const there = links.map(({ link }) => link.replace(/\/$/, '/index'))
  const pages = papers.filter((path) => isPage(path) && path !== 'docs/index.md')
  const lost = pages.filter((path) => !there.includes(`/${rewritten(path).replace(/\.md$/, '')}`))
  expect(lost, 'docs/.vitepress/contents.ts').toEqual([])
})

describe('the pages of protocols', () => {
  const pages = papers.filter((path) => path.startsWith('docs/protocols/'))
  /** Without what stands in code, and the names of claims. */
  const proseOf = (path: string): string => {
    return read(root, path).replaceAll(/```.*?```|`[^`]*`|\*\*[^*]*\*\*/gs, '')
  }

  test('name the papers that they follow, and no plan that is not here (DO-11)', () => {
    expect(pages.filter((path) => /\bthe (source|plan)\b/i.test(proseOf(path)))).toEqual([])
    for (const page of [...pages, ...guide])
      expect(read(root, page)).not.toContain('as its sources')
  })
  test('say what is acknowledged, published, reported or sent, and seldom told (DO-16)', () => {
    const told = pages.map((path) => proseOf(path).match(/\btold\b/g)?.length ?? 0)
    expect(Math.max(...told)).toBeLessThanOrEqual(4)
  })
  test('have a picture of their messages (DO-17)', () => {
    const drawn = pages.filter((path) => /^```\n.*?^```$/ms.test(read(root, path)))
    const wanted = ['mailbox', 'motion', 'objects', 'pieces', 'rpc', 'session', 'slots']
    expect(drawn).toEqual(expect.arrayContaining(wanted.map((name) => `docs/protocols/${name}.md`)))
  })
  test('send who only uses them to the guide, before anything else (DO-22)', () => {
    const own = ['hub', 'link', 'session']
    const users = pages.filter((path) => !own.includes(path.slice(15, -3)))
    const lost = users.filter((path) => {
      const [head = ''] = read(root, path).split(/^## /m)
      return !head.includes('../guide/')
    })
    expect(lost).toEqual([])
  })
})

describe('the glossary', () => {
  const rows = [...read(root, 'docs/GLOSSARY.md').matchAll(/^\| ([a-z][^|]*) \| (.*) \|$/gm)]
  const terms = rows.map(([, term = '']) => term).filter((term) => term !== 'term')

  test('has sixty terms at most, each once (DO-13) (AP-20)', () => {
    expect(terms.length).toBeGreaterThan(40)
    expect(terms.length).toBeLessThanOrEqual(60)
    expect(new Set(terms).size).toBe(terms.length)
  })
  test('says each in one or two sentences, and what the code says otherwise', () => {
    const long = rows.filter(([, , meaning = '']) => {
      const [said = ''] = meaning.split('*Here:*')
      return said.trim().split(/[.!?](?: |$)/).length > 3
    })
    expect(long.map(([, term]) => term)).toEqual([])
  })
})

/** A table of codes as a paper has it. */
function tableOf(codes: Readonly<Record<string, Row>>): string {
  const of = Object.values(codes).some((row) => row.of !== undefined)
  const head = ['code', ...(of ? ['of'] : []), 'when', 'did it happen?', 'what to do']
  const rows = Object.entries(codes).map(([code, row]) => {
    return [`\`${code}\``, ...(of ? [row.of] : []), row.when, row.happened, row.todo]
  })
  const lines = [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`)
  return lines.join('\n').replace('| --- | --- |', '|---|---|').replaceAll(' --- |', '---|')
}

/** A paper with another table under a heading. */
function replaced(text: string, heading: string, table: string): string {
  const [before = '', after = ''] = text.split(`## ${heading}\n\n`)
  const rest = after.startsWith('|') ? after.slice(after.indexOf('\n\n') + 2) : after
  return `${before}## ${heading}\n\n${table}\n\n${rest}`
}

describe('the tables', () => {
  test('every event of a session, and nothing else (DO-14)', () => {
    const session: Record<keyof SessionEvents, true> = {
      ...{
        status: true,
        safety: true,
        hub: true,
        complete: true,
        primary: true,
        backup: true,
        join: true,
        leave: true,
      },
      ...{ members: true, banned: true, ballots: true, asked: true, lostSecrets: true },
      ...{ recovered: true, rolledBack: true, healed: true, error: true },
    }
    const object: Record<keyof ObjectEvents, true> = {
      ...{ changed: true, granted: true, lost: true, denied: true, gone: true },
    }
    const piece: Record<keyof PieceEvents, true> = {
      ...{ conflict: true, refused: true, lost: true, changed: true, gone: true },
    }
    const slots: Record<keyof SlotsEvents<unknown>, true> = {
      ...{ changed: true, void: true, refused: true, failed: true, diverged: true },
    }
    const table: Record<keyof TableEvents, true> = { changed: true }
    const list: Record<keyof ListingEvents<unknown>, true> = {
      ...{ added: true, changed: true, removed: true },
    }
    const all = [session, table, list, object, piece, slots].flatMap(namesOf).toSorted()
    expect(namesUnder('docs/reference.md', 'Events').toSorted()).toEqual(all)
  })
  test('every option of join (DO-14)', () => {
    const options: Record<keyof NodeJoinOptions, true> = {
      ...{ game: true, room: true, name: true, types: true, server: true, playersMax: true },
      ...{
        fresh: true,
        webrtc: true,
        token: true,
        onProgress: true,
        ticket: true,
        recover: true,
        primaries: true,
        serves: true,
        expellers: true,
        watch: true,
        keepRoom: true,
        from: true,
        watchersMax: true,
        entry: true,
        listed: true,
        objectsPerPlayer: true,
        operationsPerSecond: true,
      },
      ...{ topology: true, updatesPerSecond: true, condition: true, signal: true },
      ...{ udp: true, listen: true },
    }
    expect(namesUnder('docs/reference.md', 'Joining').toSorted()).toEqual(namesOf(options))
  })
  test('every code of an error and of an outcome, as the code has it (DO-10)', () => {
    const path = 'docs/errors.md'
    const now = read(root, path)
    const errors = replaced(now, 'Codes of errors', tableOf(ERRORS))
    const both = replaced(errors, 'Codes of outcomes', tableOf(OUTCOMES))
    if (process.env['UPDATE'] === '1') writeFileSync(join(root, path), both)
    expect(read(root, path), 'if that is meant, UPDATE=1').toBe(both)
  })
  test('every bench has its section of figures, which begins with its command (DO-18)', () => {
    const pattern = /^## (.*)\n\n`npm run bench -- ([\w-]+)`/gm
    const sections = [...read(root, 'docs/figures.md').matchAll(pattern)]
    expect(sections.filter(([, names, name]) => !names!.split(', ').includes(name!))).toEqual([])
    const named = sections.flatMap(([, names]) => names!.split(', ')).toSorted()
    const tools = ['dispatch.ts', 'main.ts', 'report.ts', 'soak.ts']
    const benches = readdirSync(join(root, 'bench')).filter((name) => /^\w+\.ts$/.test(name))
    const wanted = benches.filter((name) => !tools.includes(name))
    expect(named).toEqual(wanted.map((name) => name.replace('.ts', '')).toSorted())
  })
})

/** Rows of a table below a heading whose last cell names no test that is there. */
function untested(text: string, heading: string): { rows: number; lost: string[] } {
  const [, behind = ''] = text.split(`## ${heading}\n`)
  const [section = ''] = behind.split(/^## /m)
  const table = section.split('\n').filter((line) => line.startsWith('| '))
  const rows = table.filter((line) => !line.endsWith('| test |'))
  const lost = rows.filter((row) => {
    const [, path = '', title = ''] = /`([^`]+)`, \*([^*]+)\* \|$/.exec(row) ?? []
    return title === '' || !read(root, path).includes(title)
  })
  return { rows: rows.length, lost }
}

test.each([
  ['attack (SE-2)', 'What was tried', 20],
  ['key (N-28)', 'Keys, and how each is replaced', 5],
  ['word of a process (N-4)', 'What processes say of themselves', 9],
])('the page on security names a test for each %s', (_what, heading, most) => {
  const pages = ['docs/security.md', 'docs/attacks.md'].map((path) => read(root, path))
  const { rows, lost } = untested(pages.join('\n'), heading)
  expect([rows > most, lost]).toEqual([true, []])
})

describe('the architecture', () => {
  const text = read(root, 'docs/ARCHITECTURE.md')

  test('names a test for each decision that reads as a bug (DO-39)', () => {
    const decisions = read(root, 'docs/records/decisions.md')
    const { rows, lost } = untested(decisions, 'Decisions that read as bugs')
    expect([rows > 30, lost]).toEqual([true, []])
  })
  test('has every module of every layer in its list (DO-19) (DO-26)', () => {
    const [, list = ''] = text.split('```\npackages/holdfast/src/')
    const named = list.slice(0, list.indexOf('```'))
    const lost = LAYERS.flat().filter((name) => {
      return !named.includes(name.endsWith('.ts') ? name : `${name}/`)
    })
    expect(lost, 'the list of layers in docs/ARCHITECTURE.md names each module').toEqual([])
  })
  test('stands in the common words, and shows its flows message by message (DO-19) (DO-33)', () => {
    expect(text).not.toMatch(/\bfloors?\b|\bneighbours?\b|\bthe house\b/i)
    for (const flow of ['An update', 'Taking an object', 'An action']) {
      const [, section = ''] = text.split(`### ${flow}\n`)
      expect(section.split('\n#')[0]).toMatch(/^```\n.*--->\|.*^```$/ms)
    }
  })
})

/** Headings as the anchors that GitHub makes of them. */
function anchorsOf(text: string): string[] {
  return [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) => anchorOf(heading))
}

test('every link of a paper leads to a file and a heading that are there (DO-13)', () => {
  const lost = papers.flatMap((path) => {
    const links = [...read(root, path).matchAll(/\]\(([^)\s]+)\)/g)].map(([, to = '']) => to)
    const ours = links.filter((to) => !/^\w+:/.test(to))
    return ours.filter((to) => {
      const [file = '', anchor = ''] = to.split('#')
      const target = file === '' ? path : join(dirname(path), file)
      if (!existsSync(join(root, target))) return true
      return anchor !== '' && !anchorsOf(read(root, target)).includes(anchor)
    })
  })
  expect(lost).toEqual([])
})
