/** A process of an older build: its letters have fields that are none any more. Usage: URL FILE */

import { letter, openMailbox, text, u8 } from '../../packages/mailbox/src/index.ts'

const Gift = letter('gift', { hat: text(80), count: u8 })
const [url, store] = process.argv.slice(2)
const box = await openMailbox({ id: 'old', store: store!, peers: { bob: url! } })
await box.to('bob').post(Gift, { hat: 'a hat of many more letters than are allowed', count: 1 })
await box.to('bob').post(Gift, { hat: 'top', count: 2 })
box.on('acked', ({ waiting }) => {
  if (waiting === 0) void box.close().then(() => process.exit(0))
})
