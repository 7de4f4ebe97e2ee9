/**
 * The line between one page and the hub, which can be cut: nothing passes then, not even that the
 * other side hung up. What was on its way waits, as TCP would send it again.
 */

import { connect, createServer, type Server, type Socket } from 'node:net'

/** One line. */
export class Line {
  readonly url: string
  /** Bytes and connections that waited for the line to be mended. */
  held = 0
  readonly #server: Server
  readonly #ends = new Set<Socket>()
  #mended: (() => void)[] | null = null

  private constructor(server: Server, url: string) {
    this.#server = server
    this.url = url
  }

  static async to(port: number): Promise<Line> {
    const server = createServer({ allowHalfOpen: true })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port: own } = server.address() as { port: number }
    const line = new Line(server, `http://127.0.0.1:${own}`)
    server.on('connection', (here) => {
      const there = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
      line.#join(here, there)
      line.#join(there, here)
    })
    return line
  }

  /** Cuts the line for so many milliseconds. @returns when it is mended */
  cut(ms: number): Promise<void> {
    this.hold()
    return this.mend(ms)
  }

  /** Cuts the line. */
  hold(): void {
    this.#mended ??= []
  }

  /** Mends it in so many milliseconds. */
  async mend(ms: number): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, ms))
    const waiting = this.#mended ?? []
    this.#mended = null
    for (const pass of waiting) pass()
  }

  end(): void {
    for (const socket of this.#ends) socket.destroy()
    this.#server.close()
  }

  #join(from: Socket, to: Socket): void {
    this.#ends.add(from)
    from.on('data', (bytes: Buffer) => this.#pass(() => to.write(bytes)))
    from.on('end', () => this.#pass(() => to.end()))
    from.on('error', () => {})
    from.on('close', () => {
      this.#ends.delete(from)
      this.#pass(() => to.destroy())
    })
  }

  #pass(run: () => void): void {
    if (this.#mended === null) return run()
    this.held++
    this.#mended.push(run)
  }
}
