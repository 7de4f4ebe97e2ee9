/** @jsxImportSource react */
/**
 * The page of hooks.test.ts: components that use every hook, in StrictMode. The body says how often
 * each was rendered, as `data-…`; `?only` mounts no second user of the room, and `?remember` is
 * true without a value.
 */

import { memo, StrictMode, useEffect, useLayoutEffect, useState } from 'react'
import { createRoot } from 'react-dom/client'
import {
  action,
  object,
  type ObjectHandle,
  piece,
  type PieceHandle,
  text,
  u8,
} from '../../packages/holdfast/src/browser.ts'
import {
  RoomProvider,
  type RoomOptions,
  useAct,
  useAll,
  useField,
  useMembers,
  useObject,
  usePiece,
  useRoom,
  useSession,
  useStatus,
  useTable,
} from '../../packages/react/src/index.ts'

const Card = piece('card', { title: text(80), face: u8 })
const Dot = object('dot', { hue: u8 }, { take: 'free', onOwnerLeave: 'keep' })
const deal = action('deal', (table, title: string) => {
  table.create(Card, { title })
  table.set('dealt', table.all(Card).length)
})
const note = action('note', (table, word: string) => table.set('note', word))

const asked = new URLSearchParams(location.search)
const options: RoomOptions = {
  game: 'hooks',
  room: asked.get('room') ?? 'main',
  types: [Card, Dot, deal, note],
  remember: asked.get('remember') === '' || ((asked.get('remember') ?? false) as false | 'browser'),
}

/** How often each component was rendered into the page. */
const renders: Record<string, number> = {}

// It is counted before it can be seen.
function useCount(name: string): void {
  useLayoutEffect(() => {
    renders[name] = (renders[name] ?? 0) + 1
  })
}

function say(words: Record<string, unknown>): void {
  for (const [name, word] of Object.entries(words)) document.body.dataset[name] = String(word)
}

const Row = memo(({ card }: { card: PieceHandle<typeof Card.schema.fields> }) => {
  const { title, face } = usePiece(card)
  useCount(`row ${card.id}`)
  return (
    <li>
      <input aria-label={`Title ${card.id}`} {...useField(card, 'title')} />
      {title} {face}
    </li>
  )
})

const Mark = memo(({ dot }: { dot: ObjectHandle<typeof Dot.schema.fields> }) => {
  const { hue } = useObject(dot)
  useCount('mark')
  useEffect(() => say({ hue, mine: dot.mine }))
  return <b>{hue}</b>
})

function Cards() {
  // The list by its members, not by their states.
  const cards = useAll(Card, (all) => all.map((card) => card))
  const dots = useAll(Dot)
  useCount('list')
  useEffect(() => say({ cards: cards.length, dots: dots.length }))
  return (
    <ul>
      {cards.map((card) => (
        <Row key={card.id} card={card} />
      ))}
      {dots.map((dot) => (
        <Mark key={dot.id} dot={dot} />
      ))}
    </ul>
  )
}

function Members() {
  const members = useMembers()
  useCount('members')
  useEffect(() => say({ members: members.map(({ player }) => player) }))
  return null
}

function Status() {
  const { status, safety, primary } = useStatus()
  useCount('status')
  useEffect(() => say({ status, safety, primary: primary?.player }))
  return null
}

function Dealt() {
  const dealt = useTable('dealt')
  const act = useAct(deal)
  useCount('dealt')
  useEffect(() => {
    say({ dealt })
    Object.assign(globalThis, { deal: async (title: string) => (await act(title)).ok })
  })
  return null
}

function Tools() {
  const session = useSession()
  useEffect(() => {
    say({ me: session.me.player })
    Object.assign(globalThis, {
      renders,
      note: async (word: string) => (await session.act(note, word)).ok,
      turn: (at: number, face: number) => session.all(Card)[at]!.update({ face }),
      title: (at: number, title: string) => session.all(Card)[at]!.update({ title }),
      dot: () => session.create(Dot, { hue: 1 }).id,
      crash: () => session.debug.crash(),
    })
  }, [session])
  return null
}

/** A second user of the same room, which joins no second time. */
function Other() {
  const { status } = useRoom(options)
  useEffect(() => say({ other: status }))
  return null
}

function App() {
  const [isIn, setIn] = useState(true)
  const { status, error, retry } = useRoom(options)
  useEffect(() => {
    Object.assign(globalThis, { setIn, retry })
    say({ room: status, code: error?.code ?? '', error: error?.message ?? '' })
  })
  return isIn ? <Game /> : null
}

function Game() {
  return (
    <RoomProvider {...options} fallback={({ progress }) => <p>{progress?.waitingFor}</p>}>
      <Tools />
      <Cards />
      <Members />
      <Status />
      <Dealt />
    </RoomProvider>
  )
}

/** Uses the room only while it is in. */
function Alone() {
  const [isIn, setIn] = useState(true)
  useEffect(() => {
    Object.assign(globalThis, { setIn })
    if (!isIn) say({ members: '' })
  })
  return isIn ? <Game /> : null
}

createRoot(document.querySelector('#page')!).render(
  <StrictMode>
    {asked.has('only') ? (
      <Alone />
    ) : (
      <>
        <App />
        <Other />
      </>
    )}
  </StrictMode>,
)
