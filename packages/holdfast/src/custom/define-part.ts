/** Custom parts: their definitions, and the kind that a session opens for them. */

import * as machine from './protocol/custom.ts'
import { badValue } from '../machine.ts'
import type { Part } from '../kind/protocol/part.ts'
import { checkSync, checkName, checkOptions } from '../api/options.ts'
import { shown } from '../wire/fields/fields.ts'
import type { Definition, Kind } from '../kind/kind.ts'
import { authorOf } from './author.ts'
import { CustomApi } from './custom-api.ts'
import type { AnyPlan, PartPlan, PartType } from './types.ts'

/** The lowest and the highest channel of custom parts. */
export const CHANNELS: readonly [number, number] = [64, 255]

interface CustomDefinition extends PartType {
  readonly text: string
  readonly plan: AnyPlan
  readonly options: unknown
}

/** Makes definitions of a custom part, from a name and the part's options. */
export type PartMaker<Options, Face> = <const Name extends string>(
  name: Name,
  ...options: unknown extends Options ? [] : [options: Options]
) => PartType<Name, Face>

const VERBS = ['text', 'create', 'face'] as const
const DURABLE = ['perform', 'apply', 'snapshot', 'restore'] as const

/**
 * Defines a kind of part. The result makes definitions, as `object` does; a game has at most one.
 *
 *     const chat = definePart({ channel: 64, text: () => 'v1', create: …, face: … })
 *     const Lobby = chat('lobby')
 *     const session = await join({ game: 'talk', types: [Lobby] })
 *     session.part(Lobby).say('hello')
 *
 * @throws HoldfastError `bad-value` for a channel below 64 or above 255, for a value that is no
 *   function, or if only some of `perform`, `apply`, `snapshot` and `restore` are given
 */
export function definePart<Options, State extends object, Face>(
  plan: PartPlan<Options, State, Face>,
): PartMaker<Options, Face> {
  checkPlan(plan)
  const given = { ...plan } as unknown as AnyPlan
  const kind = kindOf(given.channel)
  return (name, ...[options]) => {
    checkName(name)
    const text: unknown = given.text(options)
    if (typeof text !== 'string') {
      throw badValue(`text of the part "${name}" gives a text: ${shown(text)}`)
    }
    const made: CustomDefinition = { kind, name, text, plan: given, options }
    return made as PartType as PartType<typeof name, Face>
  }
}

function textOf(definition: Definition, channel: number): string {
  const { name, text } = definition as CustomDefinition
  return `${name} part ${channel} ${JSON.stringify(text)}`
}

function kindOf(channel: number): Kind<'part'> {
  return {
    word: 'part',
    channel,
    most: 1,
    text: (definition) => textOf(definition, channel),
    keptText: (definition) => textOf(definition, channel),
    open: ([definition], host) => {
      const { plan, name, options } = definition as CustomDefinition
      const author = authorOf(plan, name, options, host.reports)
      const state = machine.create(author)
      const face = new CustomApi({ plan, name, options }, state, host)
      return { part: machine.customPart(channel, author) as Part<never>, state, face }
    },
  }
}

function checkPlan(plan: unknown): void {
  checkOptions('definePart', plan, ['channel', 'receive', ...VERBS, ...DURABLE])
  const given = plan as Record<string, unknown>
  const { channel } = given
  const [least, most] = CHANNELS
  const fits = Number.isInteger(channel) && Number(channel) >= least && Number(channel) <= most
  if (!fits) throw badValue(`the channel of a part is ${least} to ${most}: ${shown(channel)}`)
  for (const verb of VERBS) checkSync(`${verb} of a part`, given[verb])
  const has = DURABLE.filter((verb) => given[verb] !== undefined)
  const lacks = DURABLE.find((verb) => !has.includes(verb))
  if (has.length > 0 && lacks) {
    throw badValue(`a part with ${has.join(', ')} has ${lacks} too: what is kept takes all four`)
  }
  for (const verb of has) checkSync(`${verb} of a part`, given[verb])
  if (given['receive'] !== undefined) checkSync('receive of a part', given['receive'])
}
