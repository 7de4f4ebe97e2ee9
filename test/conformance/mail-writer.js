// Commits to the store of a mailbox what a plan says, and writes down what had returned.
// Usage: node mail-writer.js MODULE VERB FILE PLAN ACKS
import { openSync, readFileSync, writeSync } from 'node:fs'

const [module, verb, file, plan, acks] = process.argv.slice(2)
const { [verb]: open } = await import(module)
const store = open(file)
const ledger = openSync(acks, 'a')
const bytes = (text) => Uint8Array.from(Buffer.from(text, 'latin1'))

for (const [index, changes] of JSON.parse(readFileSync(plan, 'utf8')).entries()) {
  for (const change of changes) {
    for (const field of ['body', 'value', 'life', 'digest']) {
      if (typeof change[field] === 'string') change[field] = bytes(change[field])
    }
  }
  store.commit(changes, (error) => {
    if (error) throw error
    writeSync(ledger, `${index + 1}\n`)
  })
}
store.close()
