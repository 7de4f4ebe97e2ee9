/** The facts that a hub tells its pages at `api/hub`. An unclear answer counts as a no. */

/** How long the hub's answer may take, in milliseconds. */
const ANSWER_MS = 4_000

/** See the head of this file. */
export interface About {
  /** Any member may kill whoever serves, to see what happens. */
  readonly demo: boolean
  /** Where others on the network find it, as `http://host:port`. */
  readonly reach: readonly string[]
}

const asked = new Map<string, Promise<About>>()

/** Asks a hub, once. @param url  of its `api/hub` */
export function aboutHub(url: URL): Promise<About> {
  const before = asked.get(url.href)
  if (before) return before
  const answer = ask(url)
  asked.set(url.href, answer)
  return answer
}

async function ask(url: URL): Promise<About> {
  try {
    const signal = AbortSignal.timeout(ANSWER_MS)
    const answer = await fetch(url, { cache: 'no-store', signal })
    return readAbout(answer.ok ? await answer.json() : null)
  } catch {
    return readAbout(null)
  }
}

/** The hub's answer as facts. @param sent  its JSON: `{ version, demo, reach }` */
export function readAbout(sent: unknown): About {
  const { demo, reach } = (typeof sent === 'object' && sent !== null ? sent : {}) as {
    demo?: unknown
    reach?: unknown
  }
  const places = Array.isArray(reach) ? reach : []
  return { demo: demo === true, reach: places.filter((place) => isPlace(place)) }
}

function isPlace(place: unknown): place is string {
  return typeof place === 'string' && /^http:\/\/[^/]+$/.test(place) && URL.canParse(place)
}
