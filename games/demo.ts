/**
 * Whether the hub of this page is a demonstration, where any member may kill whoever serves. What
 * is no clear yes is a no: the answer decides whether this window obeys.
 */

/** How long the hub's answer may take, in milliseconds. */
const ANSWER_MS = 4_000

let asked: Promise<boolean> | null = null

/** Asks the hub that this page came from, once. */
export function isDemo(): Promise<boolean> {
  asked ??= ask(new URL('../api/hub', location.href))
  return asked
}

async function ask(url: URL): Promise<boolean> {
  try {
    const signal = AbortSignal.timeout(ANSWER_MS)
    const answer = await fetch(url, { cache: 'no-store', signal })
    return answer.ok && readDemo(await answer.json())
  } catch {
    return false
  }
}

/** What the hub says: `{ version, demo }`. */
export function readDemo(sent: unknown): boolean {
  return typeof sent === 'object' && sent !== null && 'demo' in sent && sent.demo === true
}
