/** @jsxImportSource react */
/** The app of server-rendering.test.ts: one room, which a server renders and pages hydrate. */

import { action, piece, type PieceHandle, text } from '../../packages/holdfast/src/index.ts'
import {
  RoomProvider,
  useAct,
  useAll,
  useField,
  useMembers,
  useRoom,
  useStatus,
  useTable,
} from '../../packages/react/src/index.ts'

const Card = piece('card', { title: text(80) })
const deal = action('deal', { title: text(80) }, (table, { title }) => {
  table.create(Card, { title })
  table.set('dealt', table.all(Card).length)
})
export const options = { game: 'rendered', types: [Card, deal] }

export function App({ server }: { server: string }) {
  return (
    <main>
      <h1>Cards</h1>
      <RoomProvider {...options} server={server} fallback={<p role="status">Joining …</p>}>
        <Cards />
      </RoomProvider>
    </main>
  )
}

/** Another part of the page, which may hydrate later. */
export function Status({ server }: { server: string }) {
  return <aside>{useRoom({ ...options, server }).status}</aside>
}

/** Below a provider. */
export function Cards() {
  const cards = useAll(Card, (all) => [...all])
  const { status, primary } = useStatus()
  const members = useMembers()
  const dealt = useTable('dealt')
  const act = useAct(deal)
  return (
    <section>
      <p role="status">
        {status}, {members.length} here, {primary?.name} serves, {String(dealt ?? 0)} dealt
      </p>
      <button onClick={() => void act({ title: 'Ace' })}>Deal</button>
      {cards.map((card) => (
        <Title key={card.id} card={card} />
      ))}
    </section>
  )
}

function Title({ card }: { card: PieceHandle<typeof Card.schema.fields> }) {
  return <input aria-label={`Title ${card.id}`} {...useField(card, 'title')} />
}
