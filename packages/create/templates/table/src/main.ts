/** The page: joins the room of its address, shows the table, and moves cards. */

import type { HoldfastError, PieceOutcome, Session } from 'holdfast'
import { Card, cards, deal, shuffle } from './cards.ts'
import { openInvite } from './invite.ts'
import { enter, say } from './room.ts'
import { type CardHandle, hand, show, showPlayers, table } from './view.ts'

/** How far a pointer moves before it drags, in pixels. */
const SLACK = 4
/** How far an arrow key moves a card, in percent of the table. */
const STEP = 3

/** Says why a move was taken back. */
async function report(move: Promise<PieceOutcome>): Promise<boolean> {
  const outcome = await move
  if (!outcome.ok) say(outcome.reason, 'bad')
  return outcome.ok
}

function add(session: Session, card: CardHandle, button: HTMLElement): void {
  const me = session.me.player
  dragged(session, card, button)
  button.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    const [x, y] = card.state.at
    const isInHand = card.state.hand === me
    const moves: Record<string, () => Promise<PieceOutcome>> = {
      h: () => card.update(isInHand ? { hand: 0 } : { hand: me, up: false }),
      ArrowLeft: () => card.update({ at: [x - STEP, y] }),
      ArrowRight: () => card.update({ at: [x + STEP, y] }),
      ArrowUp: () => card.update({ at: [x, y - STEP] }),
      ArrowDown: () => card.update({ at: [x, y + STEP] }),
    }
    const move = moves[event.key]
    if (!move || (isInHand && event.key !== 'h')) return
    event.preventDefault()
    void report(move())
  })
}

/** A press turns a card, and a longer way drags it. */
function dragged({ me }: Session, card: CardHandle, button: HTMLElement): void {
  let from: PointerEvent | null = null
  // Where in the card the pointer holds it.
  let grip: readonly [number, number] = [0, 0]
  let isDragged = false

  // Where it would be if it were let go now.
  const placeOf = (event: PointerEvent): [number, number] => {
    const { left, top, width, height } = table.getBoundingClientRect()
    const { offsetWidth, offsetHeight } = button
    const part = (place: number, room: number): number =>
      Math.min(100, Math.max(0, (100 * place) / room))
    return [
      part(event.clientX - left - grip[0], width - offsetWidth),
      part(event.clientY - top - grip[1], height - offsetHeight),
    ]
  }
  const end = (): void => {
    from = null
    button.style.transform = ''
  }
  button.addEventListener('pointerdown', (event) => {
    if (event.button !== 0) return
    button.setPointerCapture(event.pointerId)
    from = event
    grip = [event.offsetX, event.offsetY]
    isDragged = false
    void report(card.grab({ raise: true })).then((isMine) => isMine || end())
  })
  button.addEventListener('pointermove', (event) => {
    if (!from) return
    const [x, y] = [event.clientX - from.clientX, event.clientY - from.clientY]
    isDragged ||= Math.hypot(x, y) > SLACK
    if (!isDragged) return
    if (card.state.hand === 0) void card.update({ at: placeOf(event) })
    else button.style.transform = `translate(${x}px, ${y}px)`
  })
  const drop = (event: PointerEvent): void => {
    if (!from) return
    const isOverHand = event.clientY > hand.getBoundingClientRect().top
    const { hand: of } = card.state
    const patch = isOverHand
      ? { hand: me.player, ...(of === 0 && { up: false }) }
      : { hand: 0, at: placeOf(event) }
    void report(card.release(isDragged ? patch : {}))
    end()
  }
  button.addEventListener('pointerup', drop)
  button.addEventListener('pointercancel', drop)
  card.on('lost', end)
  button.addEventListener('click', () => {
    if (!isDragged) void report(card.update({ up: !card.state.up }))
    isDragged = false
  })
}

function begin(session: Session): void {
  const showAll = (): void => {
    show(session, (card, button) => add(session, card, button))
    showPlayers(session)
  }
  session.all(Card).subscribe(showAll)
  session.on('members', () => showPlayers(session))
  showAll()
  for (const run of [shuffle, deal]) {
    document.querySelector(`#${run.name}`)!.addEventListener('click', () => {
      session.act(run).then(
        (outcome) => outcome.ok || say(outcome.reason, 'bad'),
        (error: HoldfastError) => say(error.message, 'bad'),
      )
    })
  }
  if (session.all(Card).length === 0) void session.act(shuffle)
}

openInvite()
try {
  begin(await enter(cards))
} catch (error) {
  say((error as HoldfastError).message, 'bad')
}
