/**
 * The page of rejoin.test.ts and react.test.ts: React in StrictMode, and the token in
 * `sessionStorage`, as the FAQ says. An action adds to a sum that all share, an object of each
 * player shows who they are, and the body says how things stand.
 */

import {
  createElement,
  type ReactNode,
  StrictMode,
  useEffect,
  useState,
  useSyncExternalStore,
} from 'react'
import { createRoot } from 'react-dom/client'
import {
  action,
  type HoldfastError,
  join,
  object,
  type Session,
  u32,
} from '../../packages/holdfast/src/browser.ts'

const Add = action('add', { by: u32 }, (table, { by }) => {
  table.set('sum', ((table.get('sum') as number | undefined) ?? 0) + by)
})
const Dot = object('dot', { player: u32 })

const asked = new URLSearchParams(location.search)
const room = asked.get('room') ?? 'main'
/** How the room is kept, by the page's address; 10 minutes as by default. */
const KEEPS = { no: false, yes: '10m', strict: { for: '10m', strict: true } } as const
const keepRoom = KEEPS[(asked.get('keep') ?? 'yes') as keyof typeof KEEPS]
/** How often this tab came out of the browser's cache of pages that were left. */
const restored = Number(sessionStorage.getItem('restored') ?? 0)
let mounts = 0

function say(words: Record<string, unknown>): void {
  for (const [name, word] of Object.entries(words)) document.body.dataset[name] = String(word)
}

async function enter(signal: AbortSignal): Promise<Session> {
  const token = sessionStorage.getItem(room) ?? undefined
  const session = await join({ game: 'react', room, types: [Add, Dot], keepRoom, token, signal })
  const remember = (): void => sessionStorage.setItem(room, session.token)
  session.on('members', remember)
  remember()
  // Who comes back has what was theirs.
  if (!session.all(Dot).some(({ mine }) => mine)) {
    session.create(Dot, { player: session.me.player })
  }
  return session
}

function show(session: Session): void {
  say({
    status: session.status,
    code: session.code ?? '',
    safety: session.safety,
    session: session.token.split('.')[0],
    me: session.me.player,
    // One that is here twice would stand there twice.
    members: session.members.map(({ player }) => player).toSorted((a, b) => a - b),
    primary: session.primary?.player ?? 0,
    sum: session.table.get('sum') ?? 0,
  })
}

/** What a test has the page do. */
async function add(session: Session, by: number): Promise<boolean> {
  return (await session.act(Add, { by })).ok
}

function Dots({ session }: { session: Session }): ReactNode {
  const { subscribe, snapshot } = session.all(Dot)
  const dots = useSyncExternalStore(subscribe, snapshot)
  const players = dots.map(({ state }) => state.player).toSorted((a, b) => a - b)
  useEffect(() => {
    say({ dots: players })
    return () => {}
  }, [String(players)])
  return createElement('p', null, `${dots.length} dots`)
}

function Room(): ReactNode {
  const [session, setSession] = useState<Session | null>(null)
  useEffect(() => {
    const unmounted = new AbortController()
    const joined = enter(unmounted.signal)
    say({ mounts: ++mounts })
    joined.then(
      (made) => {
        setSession(made)
        for (const name of ['status', 'safety', 'members', 'primary'] as const) {
          made.on(name, () => show(made))
        }
        made.table.on('changed', () => show(made))
        show(made)
        Object.assign(globalThis, { session: made, add: (by: number) => add(made, by) })
      },
      (error: HoldfastError) => {
        if (!unmounted.signal.aborted) say({ status: 'failed', code: error.code })
      },
    )
    return () => {
      unmounted.abort(new Error('unmounted'))
      void joined.then((made) => made.leave()).catch(() => {})
    }
  }, [])
  return session && createElement(Dots, { session })
}

// A page that the browser kept aside has said goodbye; its session does not come back.
window.addEventListener('pageshow', ({ persisted }) => {
  if (!persisted) return
  sessionStorage.setItem('restored', String(restored + 1))
  location.reload()
})
say({ restored })
createRoot(document.querySelector('#page')!).render(
  createElement(StrictMode, null, createElement(Room, null)),
)
