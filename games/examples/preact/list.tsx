/**
 * A list that people share, in Preact (the same in React): a card is an object, the collection of
 * all cards is a store to subscribe to. Whoever writes on a card owns it from then on.
 */

import { bool, object, type ObjectHandle, type Session, text } from 'holdfast'
import { useSyncExternalStore } from 'preact/compat'

/** A card. Anybody may take it, and it outlives whoever made it. */
export const Card = object(
  'card',
  { text: text(80), done: bool },
  { take: 'free', onOwnerLeave: 'keep' },
)
type CardHandle = ObjectHandle<typeof Card.schema.fields>

/** The list, in a page and on a server: the third argument is what a server renders. */
export function List({ session }: { session: Session }) {
  const { subscribe, snapshot } = session.all(Card)
  const cards = useSyncExternalStore(subscribe, snapshot, snapshot)
  const add = (event: SubmitEvent & { currentTarget: HTMLFormElement }): void => {
    event.preventDefault()
    const words = new FormData(event.currentTarget).get('text') as string
    if (words.trim() !== '') session.create(Card, { text: words.trim() })
    event.currentTarget.reset()
  }
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

async function change(card: CardHandle, to: { done: boolean } | null): Promise<void> {
  // Two may want it at once: one of them is refused, and sees what the other did.
  if (!(await card.take()).ok) return
  if (to) card.set(to)
  else card.destroy()
}
