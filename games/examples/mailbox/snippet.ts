import { letter, openMailbox, text, u8 } from 'holdfast/mailbox'
const Gift = letter('gift', { hat: text(40), count: u8 })
const bob = await openMailbox({ id: 'bob', store: 'bob.db', types: [Gift], listen: { port: 8800 } })
bob.on(Gift, (tx, from, { hat, count }) => {
  tx.set('hats', ((tx.get('hats') as number) ?? 0) + count) // holds with the letter's number
  tx.post(from, { thanks: hat }) // a letter of no type: any plain value
})
const peers = { bob: 'ws://127.0.0.1:8800/mail' }
const alice = await openMailbox({ id: 'alice', store: 'alice.db', peers })
const thanked = new Promise<void>((done) => alice.on('letter', () => done()))
await alice.to('bob').post(Gift, { hat: 'top', count: 1 }) // durable here by now
await thanked
await alice.close()
await bob.close()
