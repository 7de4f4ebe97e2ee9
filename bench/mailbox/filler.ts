/** A process that fills the store of a mailbox and waits to be killed: FILE LETTERS. */

import { openMailSqlite } from '../../packages/mailbox/src/drivers/mail-sqlite.ts'
import type { MailChange } from '../../packages/holdfast/src/ports.ts'
import { digestOf, NO_DIGEST, NO_LIFE } from '../../packages/holdfast/src/wire/history.ts'
import { BYTES } from './contenders.ts'

const AT_ONCE = 5_000
const [file = '', count = '0'] = process.argv.slice(2)
const store = openMailSqlite(file)
const body = new Uint8Array(BYTES).fill(97)
let digest = NO_DIGEST
for (let n = 0; n < Number(count);) {
  const changes: MailChange[] = []
  for (let i = 0; i < AT_ONCE; i++) {
    digest = digestOf(digest, NO_LIFE, body)
    changes.push({ kind: 'posted', peer: 'peer', n: ++n, body, life: NO_LIFE, digest })
  }
  store.commit(changes, (error) => {
    if (error) throw error
  })
}
process.send!({ full: true })
setInterval(() => {}, 1_000)
