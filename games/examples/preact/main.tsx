/**
 * A list that people share, in Preact (the same in React): a card is an object, the collection of
 * all cards is a store to subscribe to. Open the page in two windows; close either, and the cards
 * stay. Who writes on a card owns it from then on.
 */

import { bool, join, object, type ObjectHandle, text } from 'holdfast'
import { render } from 'preact'
import { useSyncExternalStore } from 'preact/compat'

const Card = object(
  'card',
  { text: text(80), done: bool },
  // Anybody may take a card, and it outlives whoever made it.
  { take: 'free', onOwnerLeave: 'keep' },
)
type CardHandle = ObjectHandle<typeof Card.schema.fields>

const session = await join({ game: 'cards', types: [Card] })
const { subscribe, snapshot } = session.all(Card)

function List() {
  const cards = useSyncExternalStore(subscribe, snapshot)
  return (
    <>
      <h1>Cards</h1>
      <form onSubmit={add}>
        <input name="text" aria-label="New card" maxLength={40} placeholder="What is to be done?" />
        <button class="main">Add</button>
      </form>
      {cards.length === 0 && <p>No cards yet.</p>}
      <ul>
        {cards.map((card) => (
          <Row key={card.id} card={card} />
        ))}
      </ul>
    </>
  )
}

// A handle stays the same, its state is another at each change.
function Row({ card }: { card: CardHandle }) {
  const { text: words, done } = card.state
  return (
    <li>
      <label>
        <input type="checkbox" checked={done} onChange={() => void change(card, { done: !done })} />
        <span class={done ? 'done' : ''}>{words}</span>
      </label>
      <small>{card.mine ? 'yours' : card.owner?.name || 'somebody’s'}</small>
      <button aria-label={`Remove ${words}`} onClick={() => void change(card, null)}>
        ×
      </button>
    </li>
  )
}

function add(event: SubmitEvent & { currentTarget: HTMLFormElement }): void {
  event.preventDefault()
  const words = new FormData(event.currentTarget).get('text') as string
  if (words.trim() !== '') session.create(Card, { text: words.trim() })
  event.currentTarget.reset()
}

async function change(card: CardHandle, to: { done: boolean } | null): Promise<void> {
  // Two may want it at once: one of them is refused, and sees what the other did.
  if (!(await card.take()).ok) return
  if (to) card.set(to)
  else card.destroy()
}

render(<List />, document.querySelector('#page')!)
