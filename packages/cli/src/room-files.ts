/** `holdfast rooms export` and `import`: what a hub keeps of a room, in a file. */

import { readFileSync, writeFileSync } from 'node:fs'
import type { KeptRoom } from '../../hub/src/rooms.ts'
import { badValue, HoldfastError } from '../../holdfast/src/machine.ts'
import { plain } from '../../holdfast/src/wire/plain.ts'
import { answer, ask, type Given, placeOf, ROOMS_PATH } from './room-asking.ts'

/** Writes what a hub keeps of a room into a file that is not there yet. */
export async function exportRoom(given: Given): Promise<void> {
  const file = fileOf(given)
  const { saved } = (await answer(given, 'GET', { export: '' })) as { saved: string | null }
  if (saved === null) throw new HoldfastError('not-found', `nothing is kept of ${placeOf(given)}`)
  const bytes = Buffer.from(saved, 'base64')
  onDisk(file, () => writeFileSync(file, bytes, { flag: 'wx', mode: 0o600 }))
  if (given.json) return console.log(JSON.stringify({ file, bytes: bytes.length }))
  console.log(`${placeOf(given)} is in ${file}, ${bytes.length} bytes.`)
}

/** Has a hub keep the room in a file. */
export async function importRoom(given: Given): Promise<void> {
  const file = fileOf(given)
  const bytes = onDisk(file, () => readFileSync(file))
  const words = new URLSearchParams({ import: '' })
  if (given.room !== undefined) words.set('room', String(given.room))
  const path = `${ROOMS_PATH}?${words.toString()}`
  const response = await ask(given, path, 'POST', Uint8Array.from(bytes))
  const { kept } = (await response.json()) as { kept: KeptRoom }
  if (given.json) return console.log(JSON.stringify(kept))
  const until = new Date(kept.until ?? 0).toISOString()
  console.log(`${plain(kept.game)}/${plain(kept.room)} is kept until ${until}.`)
}

function fileOf({ file }: Given): string {
  if (file === undefined) throw badValue('--file is needed: of the saved room')
  return String(file)
}

function onDisk<Result>(file: string, act: () => Result): Result {
  try {
    return act()
  } catch (error) {
    throw new HoldfastError('store', `${file}: ${(error as Error).message}`)
  }
}
