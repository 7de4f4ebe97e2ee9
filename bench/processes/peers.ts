/**
 * Packages that a bench measures against. They have a package.json and a lockfile of their own in
 * bench/peers, and are installed by the first bench that needs them, never with the project.
 */

import { execFile } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const FOLDER = new URL('../../../bench/peers/', import.meta.url)
const INSTALL_MS = 180_000

interface Manifest {
  version?: string
  dependencies?: Record<string, string>
}

/** Installs what is missing. @throws Error in one line, if that fails */
export async function installPeers(): Promise<void> {
  const wanted = Object.entries(manifest('package.json')?.dependencies ?? {})
  const stands = ([name, version]: [string, string]): boolean =>
    manifest(`node_modules/${name}/package.json`)?.version === version
  if (wanted.every(stands)) return
  console.error('installing the peers of the bench into bench/peers')
  const options = { cwd: fileURLToPath(FOLDER), timeout: INSTALL_MS }
  try {
    const words = ['install', '--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error']
    await promisify(execFile)('npm', words, options)
  } catch (error) {
    const [why] = String((error as { stderr?: string }).stderr ?? error)
      .trim()
      .split('\n')
    throw new Error(`bench/peers could not be installed (npm install there): ${why}`)
  }
}

function manifest(path: string): Manifest | null {
  const file = new URL(path, FOLDER)
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Manifest) : null
}

/** One of the modules in bench/peers, such as `colyseus`, once its packages are installed. */
export async function peer<Module>(name: string): Promise<Module> {
  return (await import(new URL(`${name}.js`, FOLDER).href)) as Module
}

/** Name and version of what is installed, for the report. */
export function version(name: string): string {
  return `${name} ${manifest(`node_modules/${name}/package.json`)?.version ?? '?'}`
}
