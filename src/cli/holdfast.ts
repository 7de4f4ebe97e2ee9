#!/usr/bin/env node
/** The `holdfast` command. Errors are one sentence; --debug shows more. */

import { readFileSync } from 'node:fs'
import { cac } from 'cac'
import { HoldfastError } from '../machine.ts'
import { plainLines } from '../wire/plain.ts'
import { addDiverge } from './diverge.ts'
import { addExplore } from './explore.ts'
import { addMailbox } from './mailbox.ts'
import { addServe } from './serve.ts'
import { addSim } from './sim.ts'

const { version } = JSON.parse(
  readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
) as { version: string }

const cli = cac('holdfast')
addServe(cli)
addSim(cli)
addExplore(cli)
addMailbox(cli)
addDiverge(cli)
cli.option('--debug', 'Show where an error came from')
cli.help()
cli.version(version)

function fail(error: unknown): never {
  const known = error instanceof HoldfastError || (error as Error)?.name === 'CACError'
  const text = error instanceof Error ? error.message : String(error)
  const debug = process.argv.includes('--debug')
  console.error(known && !debug ? `holdfast: ${plainLines(text)}` : error)
  process.exit(2)
}

try {
  cli.parse(process.argv, { run: false })
  if (cli.matchedCommand) await (cli.runMatchedCommand() as Promise<void> | undefined)
  else if (!cli.options['help'] && !cli.options['version']) {
    if (cli.args.length > 0) {
      throw new HoldfastError('bad-value', `there is no command "${cli.args[0]}": try --help`)
    }
    cli.outputHelp()
  }
} catch (error) {
  fail(error)
}
