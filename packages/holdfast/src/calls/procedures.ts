/** Procedures as a game defines them, and the kind that a session opens for them. */

import type { Part } from '../kind/protocol/part.ts'
import { RPC_CHANNEL } from './protocol/messages.ts'
import { rpcPart } from './protocol/rpc.ts'
import { create } from './protocol/state.ts'
import { checkFunction, checkName } from '../api/options.ts'
import { ANY, type AnswerOptions, signatureOf, signatureText } from '../api/arguments.ts'
import { CallsApi, type Procedure, type ProcedureType } from './calls.ts'
import type { Host, Kind, Opened } from '../kind/kind.ts'
import type { Fields, StateOf } from '../wire/fields/schema.ts'

export const proceduresKind: Kind<'procedure'> = {
  word: 'procedure',
  channel: RPC_CHANNEL,
  most: Infinity,
  text: (type) => signatureText(`${type.name}()`, (type as ProcedureType).signature),
  open: (definitions, host) => open(definitions as readonly ProcedureType[], host),
}

function open(types: readonly ProcedureType[], host: Host): Opened {
  const state = create()
  return { part: rpcPart as Part<never>, state, face: new CallsApi(types, state, host) }
}

/**
 * A procedure: one member calls it at another, and waits for the answer. Prefer an object for state
 * that others see: it costs less, and nobody can miss it. Prefer an action for what must happen
 * exactly once: if a link or a machine is lost during a call, nobody knows whether it ran.
 *
 *     const roll = procedure('roll', { sides: u8 }, ({ sides }) => 1 + below(sides))
 *     const ask = procedure('ask', { question: text(200) }, null, { answer: bool })
 *
 * With fields, caller and receiver both check the arguments, and an answer that has a field.
 * Without fields, the arguments are any plain JSON that a member sends, unchecked.
 *
 * @param run  the function at every member; the caller gets what it throws. None or null if members
 *   set theirs by `session.answer`
 * @throws HoldfastError code `bad-value` for a name that is empty or too long, for an invalid field
 *   and for fields of bytes: arguments travel as JSON
 */
export function procedure<Args, Answer>(
  name: string,
  run?: Procedure<Args, Answer> | null,
): ProcedureType<Args, Answer>
/** @param options  `answer`: a field that the answer fits */
export function procedure<F extends Fields, Answer>(
  name: string,
  fields: F,
  run: Procedure<Readonly<StateOf<F>>, NoInfer<Answer>> | null,
  options: Required<AnswerOptions<Answer>>,
): ProcedureType<StateOf<F>, Answer>
export function procedure<F extends Fields, Answer>(
  name: string,
  fields: F,
  run?: Procedure<Readonly<StateOf<F>>, Answer> | null,
): ProcedureType<StateOf<F>, Answer>
export function procedure(
  name: string,
  first: unknown = null,
  ...[second = null, options = {}]: [run?: unknown, options?: object]
): ProcedureType<never, unknown> {
  checkName(name)
  const what = `the procedure "${name}"`
  const hasFields = typeof first === 'object' && first !== null
  const run = hasFields ? second : first
  if (run !== null) checkFunction(what, run)
  const signature = hasFields ? signatureOf(what, first as Fields, options) : ANY
  return { kind: proceduresKind, name, signature, run: run as Procedure | null }
}
