/** Runs a command-line program: prints errors, sets the exit code. */

import { type CAC, cac } from 'cac'
import { nearest } from '../../holdfast/src/api/options.ts'
import { badValue, HoldfastError } from '../../holdfast/src/machine.ts'
import { plainLines } from '../../holdfast/src/wire/text/plain.ts'

/** Runs the given command; an error prints one sentence, `--debug` shows more. */
export async function runProgram(
  name: string,
  add: readonly ((cli: CAC) => void)[],
  version?: string,
): Promise<void> {
  const cli = cac(name)
  cli.help()
  for (const command of add) command(cli)
  cli.option('--debug', 'Show where an error came from')
  if (version !== undefined) cli.version(version)
  try {
    cli.parse(process.argv, { run: false })
    if (cli.matchedCommand) await (cli.runMatchedCommand() as Promise<void> | undefined)
    else if (!cli.options['help'] && !cli.options['version']) {
      if (cli.args.length > 0) {
        throw badValue(`unknown command "${cli.args[0]}": try --help`)
      }
      cli.outputHelp()
    }
  } catch (error) {
    fail(error, cli.matchedCommand?.options.map(({ name }) => name) ?? [])
  }
}

// Options that a hub is given, where a command asks for the address of one.
const ADDRESS = ['hub', 'host', 'port', 'url']

function cureOf(text: string, options: readonly string[]): string {
  const [, given = ''] = /^Unknown option `--?([^`]*)`$/.exec(text) ?? []
  if (given === '') return ''
  const isAddress = ADDRESS.includes(given) && options.includes('server')
  const meant = isAddress ? 'server' : nearest(given, options)
  return meant === null ? ': try --help' : `: did you mean --${meant}?`
}

function fail(error: unknown, options: readonly string[]): never {
  const known = error instanceof HoldfastError || (error as Error)?.name === 'CACError'
  const message = error instanceof Error ? error.message : String(error)
  const text = `${message}${cureOf(message, options)}`
  const debug = process.argv.includes('--debug')
  console.error(known && !debug ? `holdfast: ${plainLines(text)}` : error)
  process.exit(2)
}
