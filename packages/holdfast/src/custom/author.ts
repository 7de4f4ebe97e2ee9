/** Wraps the functions of a part's author: an exception costs only that one call. */

import * as machine from './protocol/custom.ts'
import { badValue, misfit } from '../machine.ts'
import { requireSync, type Report, type Reports, guardRule } from '../api/reports.ts'
import { shown } from '../wire/fields/fields.ts'
import type { AnyPlan, Performance } from './types.ts'

class Refusal extends Error {}

/** In `perform`: refuses the operation; the caller gets the sentence. Nothing is changed. */
export function refuse(sentence: string): never {
  throw new Refusal(String(sentence))
}

const NOTHING: Uint8Array = new Uint8Array(0)

/** Guards the functions of a plan. @throws HoldfastError `bad-value`; and what `create` throws */
export function authorOf(
  plan: AnyPlan,
  name: string,
  options: unknown,
  { report }: Pick<Reports, 'report'>,
): machine.Author {
  const whose = (verb: string): string => `${verb} of the part "${name}"`
  const source = (verb: keyof AnyPlan): object => (plan[verb] ?? plan) as object
  // Reports an exception once for each function.
  const guarded = <Value>(verb: keyof AnyPlan, run: () => Value, instead: Value): Value => {
    const reportFrom: Report = (error, where) => report(error, where, source(verb))
    return guardRule(reportFrom, whose(verb), run, instead)()
  }
  const created = (): object => createdBy(whose('create'), plan, options)
  created()
  return {
    create: () => guarded('create', created, {}),
    perform: (state, operation, by) => {
      const where = whose('perform')
      const run = (): unknown => plan.perform?.(state as object, operation, by, options)
      return performed(where, run, (error) => report(error, where, source('perform')))
    },
    apply: (state, change) => {
      guarded('apply', () => plan.apply?.(state as object, change, options), undefined)
    },
    snapshot: (state) => {
      const of = (): Uint8Array => {
        const bytes = plan.snapshot?.(state as object) ?? NOTHING
        return bounded(`what ${whose('snapshot')} gives`, bytes, machine.CUSTOM_SNAPSHOT_MAX)
      }
      return guarded('snapshot', of, null)
    },
    restore: (bytes) => {
      // A part without durable state starts with a new one.
      const of = (): unknown => (plan.restore ? plan.restore(bytes, options) : created())
      const state = guarded('restore', of, null)
      return typeof state === 'object' ? state : null
    },
  }
}

function performed(
  where: string,
  run: () => unknown,
  report: (error: unknown) => void,
): machine.Decision {
  try {
    return judged(where, requireSync(where, run()) as Performance)
  } catch (error) {
    const reason = (error instanceof Error ? error.message : String(error)).slice(0, 300)
    if (error instanceof Refusal) return { kind: 'refused', reason }
    report(error)
    return { kind: 'failed', reason }
  }
}

// Without a state there is no session, so joining fails at once.
function createdBy(where: string, plan: AnyPlan, options: unknown): object {
  const state: unknown = requireSync(where, plan.create(options))
  if (typeof state === 'object' && state !== null) return state
  throw badValue(`${where} gives an object: ${shown(state)}`)
}

function judged(where: string, given: Performance): machine.Decision {
  if (typeof given !== 'object' || given === null) {
    throw badValue(`${where} gives an object, such as { changes: [] }: ${shown(given)}`)
  }
  const { changes = [], answer = NOTHING } = given
  if (!Array.isArray(changes)) throw badValue(`changes of ${where} are a list: ${shown(changes)}`)
  const all = changes as readonly Uint8Array[]
  const {
    CUSTOM_CHANGES_MAX: most,
    CUSTOM_CHANGES_BYTES_MAX: bytesMost,
    CUSTOM_BYTES_MAX,
  } = machine
  if (all.length > most) throw badValue(`${where} gives ${most} changes at most: ${all.length}`)
  const made = all.map((one) => bounded(`a change of ${where}`, one, CUSTOM_BYTES_MAX).slice())
  const size = made.reduce((sum, { length }) => sum + length, 0)
  if (size > bytesMost) throw badValue(`${where} changes ${bytesMost} bytes at most: ${size}`)
  const answered = bounded(`the answer of ${where}`, answer, CUSTOM_BYTES_MAX)
  return { kind: 'done', changes: made, answer: answered.slice() }
}

/** Checks the size of bytes. @throws HoldfastError code `bad-value` */
export function bounded(what: string, bytes: unknown, most: number): Uint8Array {
  if (!(bytes instanceof Uint8Array)) throw badValue(`${what} is a Uint8Array: ${shown(bytes)}`)
  if (bytes.length <= most) return bytes
  throw misfit(`${what} has at most ${most} bytes: ${bytes.length}`)
}
