/** An application with a server of its own, as docs/deploy.md has it, ready to become an image. */

import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'

type Texts = Record<string, string>
type Entry = Record<string, Texts | undefined>

const readJson = <T>(path: string): T => JSON.parse(readFileSync(path, 'utf8')) as T

/**
 * Writes one into a folder.
 *
 * @param tarball  our package, as it was packed
 * @param needs  the packages that it depends on
 */
export function writeApplication(folder: string, tarball: string, needs: Texts): void {
  const [express, libsql] = [versionOf('express'), versionOf('libsql')]
  const dependencies = { holdfast: `file:${basename(tarball)}`, express, libsql }
  cpSync(tarball, join(folder, basename(tarball)))
  const write = (name: string, value: object): void => {
    writeFileSync(join(folder, name), JSON.stringify(value))
  }
  write('package.json', { name: 'duel', dependencies })
  write('package-lock.json', lockOf(dependencies, needs))
  cpSync('docs/deploy/server.mjs', join(folder, 'server.mjs'))
  mkdirSync(join(folder, 'dist/assets'), { recursive: true })
  writeFileSync(join(folder, 'dist/index.html'), '<title>Duel</title>')
  writeFileSync(join(folder, 'dist/assets/main.js'), '')
}

/** The version of a package that is installed here. */
function versionOf(name: string): string {
  return readJson<{ version: string }>(`node_modules/${name}/package.json`).version
}

/** Its lock, from that of this repository: what is installed here is installed there. */
function lockOf(dependencies: Texts, needs: Texts): object {
  const { packages: all } = readJson<{ packages: Record<string, Entry> }>('package-lock.json')
  const { version } = readJson<{ version: string }>('packages/holdfast/package.json')
  const own = { version, dependencies: needs, resolved: dependencies['holdfast'] }
  const packages: Record<string, object> = { '': { name: 'duel', dependencies } }
  packages['node_modules/holdfast'] = own
  const add = (name: string, from: string): void => {
    const path = `${from}node_modules/${name}`
    const entry = all[path]
    if (!entry) {
      if (from !== '') add(name, from.slice(0, from.lastIndexOf('node_modules/')))
      return
    }
    if (packages[path]) return
    const { dev: _, peer: __, ...rest } = entry
    packages[path] = rest
    const needed = { ...entry['dependencies'], ...entry['optionalDependencies'] }
    for (const one of Object.keys(needed)) add(one, `${path}/`)
  }
  for (const name of [...Object.keys(needs), 'express', 'libsql']) add(name, '')
  return { name: 'duel', lockfileVersion: 3, requires: true, packages }
}
