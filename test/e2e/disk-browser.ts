/** Chromium whose profile is on a small disk: what a page keeps there ends as on a full one. */

import { spawn } from 'node:child_process'
import { rmSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { type Browser, chromium } from 'playwright-core'
import { PLACE } from '../conformance/small-disk.ts'
import { ARGS, CHROMIUM, PATIENCE_MS } from './harness.ts'

/** A browser on it. */
export interface DiskBrowser {
  readonly browser: Browser
  /** Gives room back that was taken at the start. */
  readonly free: () => void
}

/**
 * Starts one; it ends when it is closed.
 *
 * @param size  as `mount` takes it, such as `96m`
 * @param taken  how much of it is full, as `head -c` takes it
 */
export async function browserOnSmallDisk(size: string, taken: string): Promise<DiskBrowser> {
  const words = ['--headless', '--remote-debugging-port=0', `--user-data-dir=${PLACE}/profile`]
  const mount = `mount -t tmpfs -o size=${size} none ${PLACE}`
  const script = `${mount} && head -c ${taken} /dev/zero > ${PLACE}/filler && exec "$0" "$@"`
  const args = ['-rm', 'sh', '-c', script, CHROMIUM, ...ARGS, ...words, 'about:blank']
  const child = spawn('unshare', args, { stdio: ['ignore', 'ignore', 'pipe'] })
  const address = await new Promise<string>((resolve, reject) => {
    const lines = createInterface({ input: child.stderr })
    lines.on('line', (line) => {
      const [, found] = /DevTools listening on (ws:\S+)/.exec(line) ?? []
      if (found !== undefined) resolve(found)
    })
    child.once('exit', (code) => reject(new Error(`the browser ended with ${code}`)))
  })
  const browser = await chromium.connectOverCDP(address)
  browser.contexts()[0]!.setDefaultTimeout(PATIENCE_MS)
  browser.on('disconnected', () => child.kill('SIGKILL'))
  return { browser, free: () => rmSync(`/proc/${child.pid}/root${PLACE}/filler`) }
}
