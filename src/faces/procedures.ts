/** Procedures as a game names them, and what they bring to a session. */

import type { Part } from '../machine.ts'
import { RPC_CHANNEL } from '../rpc/messages.ts'
import { rpcPart } from '../rpc/rpc.ts'
import { create } from '../rpc/state.ts'
import { checkFunction, checkName } from '../runtime/options.ts'
import { Calls } from './calls.ts'
import type { Host, Kind, Opened } from './kind.ts'
import type { Procedure, ProcedureType } from './procedure-types.ts'

/** The kind of all that `procedure` makes. */
export const proceduresKind: Kind<'procedure'> = {
  word: 'procedure',
  channel: RPC_CHANNEL,
  most: Infinity,
  verbs: ['call', 'note', 'answer'],
  text: ({ name }) => `${name}()`,
  open: (definitions, host) => open(definitions as readonly ProcedureType[], host),
}

function open(types: readonly ProcedureType[], host: Host): Opened {
  const state = create()
  return { part: rpcPart as Part<never>, state, face: new Calls(types, state, host) }
}

/**
 * A procedure: one member calls it at another, and waits for the answer. Prefer an object for
 * what others shall see, for it costs less and nobody can miss it, and an action for what must
 * happen once: of a call that was under way when a link or a machine was lost nobody knows
 * whether it ran.
 *
 *     const roll = procedure('roll', (dice: { sides: number }) => 1 + below(dice.sides))
 *     const ask = procedure<string, boolean>('ask')      // each says what by session.answer
 *
 * @param run  what every member does when it is called; what it throws is told to who called
 * @throws HoldfastError code `bad-value` for a name that is empty or too long
 */
export function procedure<Args, Answer>(
  name: string,
  run: Procedure<Args, Answer> | null = null,
): ProcedureType<Args, Answer> {
  checkName(name)
  if (run !== null) checkFunction(`the procedure "${name}"`, run)
  return { kind: proceduresKind, name, run }
}
