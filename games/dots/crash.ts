/**
 * How a page dies as a machine does: at once and without a word.
 *
 * A browser gives a page no way to end its own process, and leaving it by the door says goodbye
 * to everybody, which proves nothing. So the wire is cut instead: from that moment nothing that
 * this page says reaches anybody, its connections break, and it opens no new ones. What the
 * others see is what they see when a machine loses its power and its system resets the sockets.
 */

const open = new Set<WebSocket>()
let dead = false

/** Watches the connections that this page opens from now on; call it before joining. */
export function prepareToCrash(): void {
  globalThis.WebSocket = class extends WebSocket {
    constructor(url: string | URL, protocols?: string | string[]) {
      if (dead) throw new Error('this page has crashed')
      super(url, protocols)
      open.add(this)
      this.addEventListener('close', () => open.delete(this))
    }

    override send(data: Parameters<WebSocket['send']>[0]): void {
      if (!dead) super.send(data)
    }
  }
}

/** Cuts the wire. There is no way back but to load the page anew. */
export function crash(): void {
  dead = true
  for (const socket of open) socket.close()
}
