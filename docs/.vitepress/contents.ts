/** Which page stands where: first what users need, then what contributors need. */

import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { DefaultTheme } from 'vitepress'
import { type Door, doors } from './doors.js'

/** Folders without a page of their own, and the page that lists what is in them. */
export const LISTED: Readonly<Record<string, string>> = { 'docs/recipes': 'docs/faq.md' }

/** Whether a file of the repository is a page of the site. */
export function isPage(path: string): boolean {
  return /^((README|CHANGELOG)|(docs|build\/api)\/.*)\.md$/.test(path)
}

/** The path of a page in the site, by its path in the repository. */
export function rewritten(path: string): string {
  if (path === 'README.md') return 'start.md'
  if (path === 'CHANGELOG.md') return 'changelog.md'
  return path.replace(/^(docs|build)\//, '').replace(/(^|\/)README\.md$/, '$1index.md')
}

type Item = DefaultTheme.SidebarItem
type Line = readonly [text: string, link: string]

// A group that can be closed would be a button in a button.
function group(text: string, pages: readonly Line[]): Item {
  return { text, items: pages.map(([name, link]) => ({ text: name, link })) }
}

/** The pages of a folder by their first headings. */
function folder(root: string, path: string): Line[] {
  const files = readdirSync(join(root, path)).filter((name) => /^[^R].*\.md$/.test(name))
  return files.map((file) => {
    const [heading = ''] = readFileSync(join(root, path, file), 'utf8').split('\n')
    return [heading.replace(/^# /, ''), `/${basename(path)}/${basename(file, '.md')}`]
  })
}

const START: readonly Line[] = [
  ['The first game', '/start'],
  ['Developing with Vite', '/guide/developing'],
  ['React and Preact', '/guide/react'],
  ['Games and examples', '/games'],
]
const GUIDE: readonly Line[] = [
  ['Overview', '/guide/'],
  ['Objects', '/guide/objects'],
  ['Pieces', '/guide/pieces'],
  ['Actions', '/guide/actions'],
  ['Slots', '/guide/slots'],
  ['Calls', '/guide/calls'],
  ['Mailbox', '/guide/mailbox'],
  ['Motion', '/guide/motion'],
  ['Simulation', '/guide/simulation'],
  ['Rooms that stay', '/guide/rooms'],
  ['Who is in the room', '/guide/people'],
  ['Testing', '/guide/testing'],
]
const REFERENCE: readonly Line[] = [
  ['Tables of all there is', '/reference'],
  ['Errors', '/errors'],
  ['Glossary', '/GLOSSARY'],
  ['Versions', '/versions'],
  ['Changes', '/changelog'],
]
const RUN: readonly Line[] = [
  ['Deploying a hub', '/deploy'],
  ['Operations', '/operations'],
  ['Commands', '/commands'],
  ['Security', '/security'],
  ['Attacks that were tried', '/attacks'],
]
const UNDERSTAND: readonly Line[] = [
  ['Architecture', '/ARCHITECTURE'],
  ['Figures', '/figures'],
  ['Every byte', '/STANDARD'],
  ['Mazewar on a LAN', '/mazewar'],
  ['Contributing', '/CONTRIBUTING'],
  ['Mutants', '/MUTANTS'],
]

function lineOf({ name, page }: Door): Line {
  return [name, `/${page}`]
}

/** The list beside a page: one for those who use Holdfast, another for those who read its code. */
export function sidebar(root: string): DefaultTheme.SidebarMulti {
  const users = [
    group('Start', START),
    group('Guide', GUIDE),
    group('Reference', REFERENCE),
    group('API', [['Overview', '/api/'], ...doors().map(lineOf)]),
    group('Run it', RUN),
    group('Recipes', [['How do I …?', '/faq'], ...folder(root, 'docs/recipes')]),
  ]
  const readers = [
    group('Understand it', UNDERSTAND),
    group('Protocols', [['Overview', '/protocols/'], ...folder(root, 'docs/protocols')]),
    group('Records', folder(root, 'docs/records')),
  ]
  const own = [...UNDERSTAND.map(([, link]) => link), '/protocols/', '/records/']
  return { ...Object.fromEntries(own.map((path) => [path, readers])), '/': users }
}

/** The line above every page. */
export const NAV: DefaultTheme.NavItem[] = [
  { text: 'Start', link: '/start', activeMatch: '^/(start|games)' },
  { text: 'Guide', link: '/guide/', activeMatch: '^/guide/' },
  { text: 'Recipes', link: '/faq', activeMatch: '^/(faq|recipes/)' },
  { text: 'Reference', link: '/reference', activeMatch: '^/(reference|errors|GLOSSARY|api/)' },
  { text: 'Run it', link: '/deploy', activeMatch: '^/(deploy|operations|commands|security)' },
  { text: 'Understand it', link: '/ARCHITECTURE', activeMatch: '^/(ARCHITECTURE|protocols/)' },
]
