// The pages of the docs that are in the package, and their links to pages that are not: a link in
// running text becomes the name of the page in the repository, an entry of a list of links goes.

import { cpSync, existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { writeFileSync } from 'node:fs'
import { join, posix } from 'node:path'

const PAPERS = [
  'README.md',
  'CHANGELOG.md',
  'LICENSE',
  'docs/GLOSSARY.md',
  'docs/commands.md',
  'docs/deploy',
  'docs/deploy.md',
  'docs/errors.md',
  'docs/faq.md',
  'docs/guide',
  'docs/operations.md',
  'docs/recipes',
  'docs/records/from-0.1.md',
  'docs/reference.md',
  'docs/security.md',
  'docs/versions.md',
]
const TOP = [...new Set(PAPERS.map((path) => path.split('/')[0]))]

const LINK = /(!?)\[([^\]]*)\]\(([^)\s]+)\)/g
const ITEM = /^- .*(?:\n {2}.*)*\n?/gm

/**
 * A page as it is in the package.
 *
 * @param path      of the page, from the root
 * @param isShipped whether the package has a file or folder of the repository
 */
export function shippedPaper(path, text, isShipped) {
  const lost = (to) => {
    if (/^(\w+:|#)/.test(to)) return null
    const target = posix.join(posix.dirname(path), to.split('#')[0])
    return isShipped(target) ? null : target
  }
  const isLost = (part) => {
    const [whole, , , to = ''] = [...part.matchAll(LINK)][0] ?? []
    return whole === part.trim() && lost(to) !== null
  }
  const listed = text.replace(ITEM, (item) => {
    const [, head = '', links = ''] = /^(- (?:\*\*[^*]*\*\*: )?)([^]*?)\n?$/.exec(item) ?? []
    const parts = links.split(/\s+·\s+/)
    if (parts.length === 1) return item
    const left = parts.filter((part) => !isLost(part))
    return left.length === 0 ? '' : `${head}${left.join(' · ')}\n`
  })
  const named = listed.replace(LINK, (whole, image, words, to) => {
    const target = lost(to)
    if (target === null) return whole
    if (image) return ''
    return target.endsWith(words) ? `\`${target}\`` : `${words} (\`${target}\`)`
  })
  const note = 'Pages named in parentheses, such as `docs/figures.md`, are in the repository.'
  return path === 'README.md' ? `${named.trimEnd()}\n\n${note}\n` : named
}

/** Copies the papers into a package. */
export function addPapers(folder) {
  for (const paper of PAPERS) cpSync(paper, join(folder, paper), { recursive: true })
  const isShipped = (path) => existsSync(join(folder, path))
  for (const path of TOP.flatMap((top) => pagesOf(folder, top))) {
    const file = join(folder, path)
    writeFileSync(file, shippedPaper(path, readFileSync(file, 'utf8'), isShipped))
  }
}

function pagesOf(folder, top) {
  if (!statSync(join(folder, top)).isDirectory()) return top.endsWith('.md') ? [top] : []
  const paths = readdirSync(join(folder, top), { recursive: true, encoding: 'utf8' })
  return paths.filter((path) => path.endsWith('.md')).map((path) => `${top}/${path}`)
}

export function removePapers(folder) {
  for (const top of TOP) rmSync(join(folder, top), { recursive: true, force: true })
}
