import { openMailbox } from 'holdfast/mailbox'
const bob = await openMailbox({ id: 'bob', store: 'bob.db', listen: { port: 8800 } })
bob.on('letter', (tx, from, body) => {
  tx.set('hats', ((tx.get('hats') as number) ?? 0) + 1) // holds together with the letter's number
  tx.post(from, { thanks: body })
})
const peers = { bob: 'ws://127.0.0.1:8800/mail' }
const alice = await openMailbox({ id: 'alice', store: 'alice.db', peers })
const thanked = new Promise<void>((done) => alice.on('letter', () => done()))
await alice.to('bob').post({ gift: 'hat' }) // durable here by now; it goes when bob is there
await thanked
await alice.close()
await bob.close()
