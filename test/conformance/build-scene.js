// What a member of any build does in a room, with the library of that build: a process or a page
// brings it. Its types are the same for all, or the builds would not fit.

/**
 * Joins, shows a dot, and says what it sees whenever that changes.
 *
 * @param library  what `holdfast` exports in that build
 * @param tell     takes what it sees, as text by name
 * @returns adds to the table, deals a card and moves the oldest one; settles once that is confirmed
 */
export async function play({ action, join, object, piece, text, u8 }, { server, name }, tell) {
  const Dot = object('dot', { x: u8 })
  const Card = piece('card', { face: text(8), x: u8 })
  const add = action('add', { who: text(8), by: u8 }, (table, { who, by }) => {
    const sum = (table.get('sum') ?? 0) + by
    table.set('sum', sum)
    table.create(Card, { face: `${who}-${by}`, x: 0 })
    return sum
  })
  const session = await join({ game: 'builds', name, server, types: [Dot, Card, add] })
  const say = () => {
    const { status, safety, hub, primary, backup, members, table } = session
    const { path } = session.debug.figures()
    const sorted = (values) => values.toSorted().join(' ')
    tell({
      ...{ name, status, safety, hub, path, primary: primary?.name ?? '' },
      ...{ backup: backup?.name ?? '', members: sorted(members.map((one) => one.name)) },
      sum: String(table.get('sum') ?? 0),
      dots: sorted(session.all(Dot).map(({ state }) => String(state.x))),
      cards: sorted(session.all(Card).map(cardOf)),
    })
  }
  for (const event of ['status', 'safety', 'hub', 'primary', 'backup', 'members']) {
    session.on(event, say)
  }
  session.table.on('changed', say)
  session.all(Dot).subscribe(say)
  session.all(Card).subscribe(say)
  const mine = session.create(Dot, { x: 0 })
  say()
  return async (by) => {
    mine.set({ x: by })
    const acted = await session.act(add, { who: name, by })
    const moved = await session.all(Card)[0].update({ x: by })
    say()
    return JSON.stringify([acted, moved.ok || moved])
  }
}

const cardOf = ({ state: { face, x }, lastBy }) =>
  `${face}@${x}${lastBy ? ` of ${lastBy.name}` : ''}`
