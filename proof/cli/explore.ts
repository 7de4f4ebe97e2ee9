/** `npm run explore`: the model checker over the shipped machines. */

import type { CAC } from 'cac'
import { HoldfastError } from '../../packages/holdfast/src/machine.ts'
import { ROOMS } from '../models/index.ts'
import type { NamedModel } from '../models/rows.ts'
import { render } from '../../packages/sim/src/checker/checker.ts'

/** Adds the command. */
export function addExplore(cli: CAC): void {
  const rooms = Object.keys(ROOMS).join(', ')
  cli
    .command('explore [room]', `Try every order of events in a small scope; rooms: ${rooms}`)
    .option('--variant <name>', 'One model alone, such as one with a mutant')
    .option('--deep', 'Also the scopes that take minutes')
    .option('--list', 'Say which models there are')
    .example('npm run explore -- session --variant F-X1')
    .action((room: string | undefined, given: Given) => {
      if (given.list) list(room === undefined ? Object.keys(ROOMS) : [room])
      else if (!explore(room, given)) process.exitCode = 1
    })
}

interface Given {
  variant?: string | number
  deep?: boolean
  list?: boolean
}

function modelsOf(room: string | undefined): readonly NamedModel[] {
  const models = room === undefined ? undefined : ROOMS[room]
  if (models) return models
  const known = Object.keys(ROOMS).join(', ')
  const what = room === undefined ? 'say which room to explore' : `no room is called "${room}"`
  throw new HoldfastError('not-found', `${what}: ${known}`)
}

function list(rooms: readonly string[]): void {
  for (const room of rooms) {
    console.log(room)
    for (const { name, says, deep, violates } of modelsOf(room)) {
      const more = violates ? `; breaks ${violates}` : deep ? ' (deep)' : ''
      console.log(`  ${name.padEnd(12)} ${says}${more}`)
    }
  }
}

/** @returns whether nothing is violated */
function explore(room: string | undefined, { variant, deep = false }: Given): boolean {
  let good = true
  for (const model of chosen(modelsOf(room), variant === undefined ? null : `${variant}`, deep)) {
    console.log(model.says)
    const report = model.explore(() => performance.now())
    console.log(render(report))
    const reached = Object.values(report.sometimes).every((met) => met)
    if (report.violation || (report.complete && !reached)) good = false
  }
  return good
}

function chosen(
  models: readonly NamedModel[],
  variant: string | null,
  deep: boolean,
): NamedModel[] {
  if (variant === null) {
    return models.filter((model) => model.violates === null && (deep || !model.deep))
  }
  const found = models.find((model) => model.name === variant)
  if (found) return [found]
  const known = models.map(({ name }) => name).join(', ')
  throw new HoldfastError('not-found', `no model is called "${variant}": ${known}`)
}
