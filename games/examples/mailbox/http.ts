import { letter, type Mailbox, text } from 'holdfast/mailbox'

export const Notice = letter('notice', { to: text(80), words: text(400) })

export function sendTo(url: string, box: Mailbox): void {
  const send = async (id: string, notice: object, signal: AbortSignal): Promise<void> => {
    const headers = { 'content-type': 'application/json', 'idempotency-key': id }
    const body = JSON.stringify(notice)
    const answer = await fetch(url, { method: 'POST', headers, body, signal })
    await answer.arrayBuffer()
    // Tried again under the same key, and letters behind it wait.
    if (!answer.ok) throw new Error(`${url} answered ${answer.status}`)
  }
  box.handleAsync(Notice, ({ id, body, signal }) => send(id, body, signal), { timeoutMs: 20_000 })
}
