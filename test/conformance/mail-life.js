// One life of a mailbox that is going to be killed. Usage: node mail-life.js DOOR; then messages:
//   { id, store, port }   alice posts numbers, bob answers each; both look at the order
//   { stop: true }        alice posts no more, and says so when all are answered
const { openMailbox } = await import(process.argv[2])

/** Letters that alice keeps under way. */
const WAITING_MAX = 100
let stopped = false

const tell = (message) => process.send(message)

function expectNext(tx, key, body) {
  const last = tx.get(key) ?? 0
  if (body !== last + 1) tx.set('wrong', `${body} came after ${last}`)
  tx.set(key, body)
}

async function alice({ store, port }) {
  const box = await openMailbox({
    id: 'alice',
    store,
    peers: { bob: `ws://127.0.0.1:${port}/mail` },
  })
  const queue = () => box.queues().find(({ peer }) => peer === 'bob') ?? { posted: 0, waiting: 0 }
  box.on('letter', (tx, _from, body) => {
    expectNext(tx, 'answered', body)
    tell({ took: body })
  })
  tell({ open: 'alice', posted: queue().posted, repaired: box.repaired })
  const state = () => ({ posted: queue().posted, answered: box.get('answered') ?? 0 })
  for (;;) {
    const { posted, waiting } = queue()
    if (stopped && state().answered === posted) break
    if (!stopped && waiting < WAITING_MAX) {
      const n = await box.to('bob').post(posted + 1)
      if (n !== posted + 1) throw new Error(`letter ${posted + 1} became number ${n}`)
      tell({ durable: n })
    } else await new Promise((turn) => setTimeout(turn, 1))
  }
  tell({ done: 'alice', ...state(), wrong: box.get('wrong') ?? null })
}

async function bob({ store, port }) {
  const box = await openMailbox({ id: 'bob', store, listen: { port } })
  box.on('letter', (tx, from, body) => {
    expectNext(tx, 'count', body)
    tx.post(from, body)
    tell({ took: body })
  })
  tell({ open: 'bob', posted: box.get('count') ?? 0, repaired: box.repaired })
  process.on('message', ({ stop }) => {
    if (stop) tell({ done: 'bob', count: box.get('count') ?? 0, wrong: box.get('wrong') ?? null })
  })
}

process.on('message', (message) => {
  if (message.stop) stopped = true
  else if (message.id === 'alice') void alice(message)
  else void bob(message)
})
tell({ loaded: true })
