/**
 * The doors of the package: by which name a program imports each, the file of its source, and the
 * page of the site that is made of its docstrings.
 */

import { readFileSync } from 'node:fs'

const described = new URL('../../packages/holdfast/package.json', import.meta.url)

/** Builds of `holdfast` for one place, and what the plugin of Vite loads by itself. */
const SAME = ['./node', './browser', './worker', './vite/client']

export function doors() {
  const { exports } = JSON.parse(readFileSync(described, 'utf8'))
  return Object.entries(exports).flatMap(([door, to]) => {
    const [, path] = /^\.\/dist\/(.*)\.js$/.exec((to.default.default ?? to.default) || '') ?? []
    if (SAME.includes(door) || path === undefined) return []
    const name = door.replace('.', 'holdfast')
    return [{ name, file: `packages/${path}.ts`, page: `api/${name.replaceAll('/', '-')}` }]
  })
}
