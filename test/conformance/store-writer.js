/**
 * Writes to a store until it is killed, and says after each write that it has returned.
 *
 *     node store-writer.js MODULE VERB FILE [HABIT]
 *
 * Each write carries one number in all of its records: in `part/0` to `part/7`, of very
 * different sizes, and in one of ten `tail/…`, whose oldest it removes. HABIT plants a fault:
 * `early` says so before it writes, `torn` makes each record a write of its own.
 */

import { writeSync } from 'node:fs'

const [module, verb, file, habit] = process.argv.slice(2)
const { [verb]: open } = await import(module)
const store = open(file)

/** The number in front of a value whose size depends on its place. */
function value(number, part) {
  const bytes = new Uint8Array(4 + part * part * 100)
  bytes.fill(number & 0xff)
  new DataView(bytes.buffer).setUint32(0, number)
  return bytes
}

function written(changes) {
  return new Promise((resolve, reject) => {
    store.write(changes, (error) => (error ? reject(error) : resolve()))
  })
}

let number = 0
for (const [key, bytes] of store.entries()) {
  if (key === 'part/0') number = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0)
}
writeSync(1, `ready ${number}\n`)

for (;;) {
  number += 1
  const changes = []
  for (let part = 0; part < 8; part++) changes.push([`part/${part}`, value(number, part)])
  changes.push([`tail/${number}`, value(number, 0)])
  if (number > 10) changes.push([`tail/${number - 10}`, null])
  if (habit === 'early') writeSync(1, `wrote ${number}\n`)
  if (habit === 'torn') for (const change of changes) await written([change])
  else await written(changes)
  if (habit !== 'early') writeSync(1, `wrote ${number}\n`)
}
