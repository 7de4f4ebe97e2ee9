/**
 * Changes a record of a store until it is killed, and says after each change that it is durable.
 *
 *     node store-writer.js MODULE VERB FILE [HABIT]
 *
 * Each change carries one number in the record and in all of its blobs: in `part/1` to `part/7`, of
 * very different sizes, and in one of ten `tail/…`, whose oldest it removes. HABIT plants a fault:
 * `early` says so before it changes anything, `torn` makes each blob by a change of its own.
 */

import { writeSync } from 'node:fs'

const [module, verb, file, habit] = process.argv.slice(2)
const { [verb]: open } = await import(module)
const store = open(file)
const KEY = 'number'

/** The number in front of a value whose size depends on its place. */
function value(number, part) {
  const bytes = new Uint8Array(4 + part * part * 100)
  bytes.fill(number & 0xff)
  new DataView(bytes.buffer).setUint32(0, number)
  return bytes
}

const found = await new Promise((resolve) => store.get(KEY, resolve))
let rev = found?.rev ?? 0
let number = found ? new DataView(found.value.buffer).getUint32(0) : 0
writeSync(1, `ready ${number}\n`)

function change(blobs) {
  return new Promise((resolve, reject) => {
    store.cas({ key: KEY, rev, value: value(number, 0), blobs }, (outcome) => {
      if (outcome.rev === undefined) return reject(outcome)
      rev = outcome.rev
      resolve()
    })
  })
}

for (;;) {
  number += 1
  const blobs = []
  for (let part = 1; part < 8; part++) blobs.push([`part/${part}`, value(number, part)])
  blobs.push([`tail/${number}`, value(number, 0)])
  if (number > 10) blobs.push([`tail/${number - 10}`, null])
  if (habit === 'early') writeSync(1, `wrote ${number}\n`)
  if (habit === 'torn') for (const blob of blobs) await change([blob])
  else await change(blobs)
  if (habit !== 'early') writeSync(1, `wrote ${number}\n`)
}
