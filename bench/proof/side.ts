/**
 * A process of its own that explores scopes and runs seeds with the code of one checkout, which
 * `BEFORE` may name: `node side.js FOLDER`, where FOLDER is a build. One line of JSON for each.
 */

import { pathToFileURL } from 'node:url'
import type * as models from '../../proof/models/index.ts'
import type * as seeds from '../../proof/seeds.ts'
import type * as trial from '../../proof/trial.ts'

/** A scope that was explored, or the seeds that ran: how much, in how much processor time. */
export interface Line {
  what: string
  unit: string
  amount: number
  seconds: number
}

const [folder = '', scopes = '', seedCount = '0'] = process.argv.slice(2)
const load = async <Module>(path: string): Promise<Module> =>
  (await import(pathToFileURL(`${folder}/proof/${path}`).href)) as Module

function processorMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}

function tell(line: Line): void {
  console.log(JSON.stringify(line))
}

const { ROOMS } = await load<typeof models>('models/index.js')
for (const text of scopes.split(',')) {
  const [room = '', name = ''] = text.split(':')
  const model = ROOMS[room]?.find((one) => one.name === name)
  if (!model) continue
  const began = processorMs()
  const { states } = model.explore()
  const seconds = (processorMs() - began) / 1_000
  tell({ what: `${room} ${name}`, unit: 'states', amount: states, seconds })
}
const [{ run }, { draw }] = await Promise.all([
  load<typeof trial>('trial.js'),
  load<typeof seeds>('seeds.js'),
])
const began = processorMs()
let virtualMs = 0
for (let seed = 1; seed <= Number(seedCount); seed++) virtualMs += (await run(draw(seed))).virtualMs
const seconds = (processorMs() - began) / 1_000
tell({ what: 'seeds, judged', unit: 'virtual s', amount: virtualMs / 1_000, seconds })
