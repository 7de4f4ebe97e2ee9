/** Child processes that are ended by their number whatever happens, and waited for with a limit. */

import { fork, spawn, spawnSync } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { existsSync } from 'node:fs'
import { cpus } from 'node:os'
import { fileURLToPath } from 'node:url'

const living = new Set<ChildProcess>()

/** Starts a script. What it prints is seen. */
export function start(script: URL, words: readonly (string | number)[]): ChildProcess {
  return adopt(fork(fileURLToPath(script), words.map(String)))
}

/** The same, on some of the processors alone where the system can do that, such as `1-3`. */
export function startOn(
  processors: string,
  script: URL,
  words: readonly (string | number)[],
): ChildProcess {
  if (!mayPin()) return start(script, words)
  const options = { execPath: 'taskset', execArgv: ['-c', processors, process.execPath] }
  return adopt(fork(fileURLToPath(script), words.map(String), options))
}

/** Whether processes can be given processors of their own. */
export function mayPin(): boolean {
  pins ??= cpus().length > 1 && spawnSync('taskset', ['--version']).status === 0
  return pins
}
let pins: boolean | null = null

/** Starts a hub as a user would. @throws Error if it does not serve */
export async function serve(
  data: string,
  ms: number,
): Promise<{ child: ChildProcess; url: string }> {
  const cli = fileURLToPath(
    new URL('../../../packages/holdfast/dist/cli/src/holdfast.js', import.meta.url),
  )
  if (!existsSync(cli)) throw new Error(`${cli} is missing: npm run build`)
  const words = [cli, 'serve', '--port', '0', '--data', data]
  const child = adopt(spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'inherit'] }))
  const until = AbortSignal.timeout(ms)
  let text = ''
  for await (const chunk of child
    .stdout!.setEncoding('utf8')
    .iterator({ destroyOnReturn: false })) {
    text += String(chunk)
    const [, url] = /serves (http:\S+)/.exec(text) ?? []
    if (url !== undefined) return { child, url }
    until.throwIfAborted()
  }
  throw new Error(`holdfast serve ended: ${text}`)
}

/** Counts a child among those that `endAll` ends. */
export function adopt(child: ChildProcess): ChildProcess {
  living.add(child)
  child.once('exit', () => living.delete(child))
  return child
}

/** Kills one child at once and waits until it is gone. */
export async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  child.kill('SIGKILL')
  await gone
}

/** Kills all that still run. */
export async function endAll(): Promise<void> {
  await Promise.all([...living].map(end))
}

/** The first message that fits. @throws Error naming `what` after `ms`, or when the child ends */
export function heard<Message, Fit extends Message>(
  child: ChildProcess,
  fits: (message: Message) => message is Fit,
  what: string,
  ms: number,
): Promise<Fit> {
  return new Promise((resolve, reject) => {
    const done = (): void => {
      clearTimeout(timer)
      child.off('message', listen)
      child.off('exit', ended)
    }
    const listen = (message: unknown): void => {
      if (!fits(message as Message)) return
      done()
      resolve(message as Fit)
    }
    const fail = (why: string): void => {
      done()
      reject(new Error(`${what}: ${why}`))
    }
    const ended = (): void => fail(`process ${child.pid} ended`)
    const timer = setTimeout(() => fail(`nothing within ${ms} ms`), ms)
    child.on('message', listen)
    child.once('exit', ended)
  })
}
