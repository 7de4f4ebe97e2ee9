/** Proxies before a hub, by the files of docs/deploy. */

import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from 'vitest'

/** What of these is not to be had here, also not by installing it, where that is allowed. */
export function lacking(programs: string[]): string {
  const gone = (): string[] => {
    const path = `${process.env['PATH']}:/usr/sbin`
    return programs.filter((name) => spawnSync('which', [name], { env: { PATH: path } }).status)
  }
  const first = gone()
  if (first.length > 0 && process.env['CI'] && process.getuid?.() === 0) {
    const names = first.map((name) => (name === 'nginx' ? 'nginx-light' : name))
    spawnSync('apt-get', ['install', '-y', '-qq', '--no-install-recommends', ...names])
  }
  return gone().join(', ')
}

/** A file of docs/deploy with what is another here; each of it must stand there. */
export function adapted(name: string, changes: Record<string, string>): string {
  let text = readFileSync(
    fileURLToPath(new URL(`../../docs/deploy/${name}`, import.meta.url)),
    'utf8',
  )
  for (const [from, to] of Object.entries(changes)) {
    expect(text).toContain(from)
    text = text.replaceAll(from, to)
  }
  return text
}

/** Starts one whose files are in that folder. */
export function startProxy(folder: string, program: string, words: string[]): ChildProcess {
  const env = { ...process.env, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder }
  const path = `${process.env['PATH']}:/usr/sbin`
  return spawn(program, words, { env: { ...env, PATH: path }, stdio: 'ignore' })
}

/** Starts nginx with a file as it lies in /etc/nginx/conf.d. */
export function startNginx(folder: string, site: string): ChildProcess {
  writeFileSync(join(folder, 'site.conf'), site)
  const places = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => {
    return `${name}_temp_path ${join(folder, name)};`
  })
  const main = [
    // One process, so that its end is the end of it.
    `daemon off; master_process off; pid ${join(folder, 'nginx.pid')};`,
    `error_log ${join(folder, 'nginx.log')};`,
    'events {}',
    `http { access_log off; ${places.join(' ')} include ${join(folder, 'site.conf')}; }`,
  ]
  writeFileSync(join(folder, 'nginx.conf'), main.join('\n'))
  const words = ['-e', join(folder, 'nginx.log'), '-c', join(folder, 'nginx.conf')]
  return startProxy(folder, 'nginx', words)
}
