/** Node members as processes: started, asked, killed. */

import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { killed, PATIENCE_MS } from './harness.ts'

/** What a member says of itself. */
export interface Report {
  name: string
  status: string
  safety: string
  epoch: number
  role: string
  path: string
  members: number[]
  primary: number
  player: number
  /** It acts no more, and nothing of it is under way. */
  rests: boolean
  /** Keys of operations whose outcome it was told. */
  acknowledged: string[]
  /** Keys of operations that the table holds, and how often they were done. */
  counts: [key: string, count: number][]
}

/** One Node member. */
export class NodeMember {
  readonly name: string
  readonly #child: ChildProcess

  private constructor(name: string, child: ChildProcess) {
    this.name = name
    this.#child = child
  }

  static async start(url: string, room: string, name: string): Promise<NodeMember> {
    const script = fileURLToPath(new URL('member.js', import.meta.url))
    const child = fork(script, [url, room, name], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
    const member = new NodeMember(name, child)
    await member.#hear((message) => 'ready' in message)
    return member
  }

  report(): Promise<Report> {
    const heard = this.#hear((message) => 'counts' in message)
    this.#child.send('say')
    return heard as Promise<Report>
  }

  /** Asks again until it says what is wanted. */
  async until(wanted: (report: Report) => boolean, maxMs = PATIENCE_MS): Promise<Report> {
    const giveUpAt = performance.now() + maxMs
    for (;;) {
      const report = await this.report()
      if (wanted(report)) return report
      if (performance.now() > giveUpAt) {
        const { acknowledged, counts, ...rest } = report
        const sizes = { acknowledged: acknowledged.length, counts: counts.length }
        throw new Error(`${this.name} did not come to it: ${JSON.stringify({ ...rest, ...sizes })}`)
      }
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }

  stopActing(): void {
    this.#child.send('stop')
  }

  /** SIGSTOP: its sockets stay open, and it does nothing until `thaw`. */
  freeze(): void {
    this.#child.kill('SIGSTOP')
  }

  thaw(): void {
    this.#child.kill('SIGCONT')
  }

  async kill(): Promise<void> {
    await killed(this.#child)
  }

  #hear(wanted: (message: object) => boolean): Promise<object> {
    return new Promise((resolve, reject) => {
      const ended = (code: number | null): void => {
        reject(new Error(`${this.name} ended with ${code}`))
      }
      const heard = (message: object): void => {
        if (!wanted(message)) return
        this.#child.off('message', heard)
        this.#child.off('exit', ended)
        resolve(message)
      }
      this.#child.on('message', heard)
      this.#child.once('exit', ended)
    })
  }
}
