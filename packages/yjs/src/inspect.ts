/**
 * What an update would do to a document, before it does it. Members may send any bytes, and Yjs
 * trusts its input: an update with gaps waits inside the document for ever, one that nests some
 * thousands of types overflows the stack when it is deleted, and a struct without length breaks the
 * search for others. So the server applies only updates that Yjs integrates at once and completely.
 */

import * as Y from 'yjs'

/** Deepest nesting of types in types, and of arrays and objects in a value. */
export const DEPTH_MAX = 64
/** The highest clock of a client. */
export const CLOCK_MAX: number = 2 ** 40

/** What a sound update has. */
export interface Facts {
  /** Clients of whom it has structs that the document lacks. */
  readonly clients: readonly number[]
  /** Whether it changes anything. */
  readonly isNew: boolean
}

type Struct = Y.Item | Y.GC

/** The structs of one client in an update, in order. */
interface Run {
  readonly structs: Struct[]
  /** How many types contain each of them. */
  readonly levels: number[]
}

/** Looks at an update. @returns its facts, or why it is not applied */
export function inspect(doc: Y.Doc, update: Uint8Array): Facts | string {
  let decoded: ReturnType<typeof Y.decodeUpdate>
  try {
    decoded = Y.decodeUpdate(update)
  } catch {
    return 'it is no update of Yjs'
  }
  const runs = runsOf(doc, decoded.structs as readonly Struct[])
  if (typeof runs === 'string') return runs
  const order = new Order(doc, runs)
  const why = order.settle()
  if (why !== null) return why
  const deletes = deletesOf(doc, order, decoded.ds)
  if (typeof deletes === 'string') return deletes
  const clients = [...runs.keys()].filter((client) => order.stateOf(client) > stateOf(doc, client))
  return { clients, isNew: clients.length > 0 || deletes }
}

function stateOf({ store }: Y.Doc, client: number): number {
  return Y.getState(store, client)
}

const GAPS = 'it builds on changes that are not in the document'

function runsOf(doc: Y.Doc, structs: readonly Struct[]): Map<number, Run> | string {
  const runs = new Map<number, Run>()
  for (const struct of structs) {
    const { client, clock } = struct.id
    const isSound = struct.length > 0 && clock + struct.length <= CLOCK_MAX
    if (!isSound) return 'it has a struct of no length, or with a clock above the limit'
    if (!(struct instanceof Y.Item) && !(struct instanceof Y.GC)) return GAPS
    const run = runs.get(client)
    const last = run?.structs.at(-1)
    const fits = last ? clock === endOf(last) : clock <= stateOf(doc, client)
    if (!fits) return GAPS
    if (run) run.structs.push(struct)
    else runs.set(client, { structs: [struct], levels: [] })
  }
  return runs
}

function endOf({ id, length }: Struct): number {
  return id.clock + length
}

/** The order in which Yjs would integrate structs: each after those that it names. */
class Order {
  readonly #doc: Y.Doc
  readonly #runs: ReadonlyMap<number, Run>
  readonly #states = new Map<number, number>()

  constructor(doc: Y.Doc, runs: ReadonlyMap<number, Run>) {
    this.#doc = doc
    this.#runs = runs
  }

  /** The clock that a client has come to. */
  stateOf(client: number): number {
    return this.#states.get(client) ?? stateOf(this.#doc, client)
  }

  /** Goes through all structs. @returns why that does not work, or null */
  settle(): string | null {
    const ready = [...this.#runs.keys()]
    // Clients by the one for which they wait; a circle of them is never freed.
    const waiting = new Map<number, number[]>()
    for (let client = ready.pop(); client !== undefined; client = ready.pop()) {
      const run = this.#runs.get(client)!
      const before = run.levels.length
      const blocker = this.#advance(run)
      if (typeof blocker === 'string') return blocker
      if (blocker !== null) {
        const others = waiting.get(blocker)
        if (others) others.push(client)
        else waiting.set(blocker, [client])
      }
      if (run.levels.length === before) continue
      ready.push(...(waiting.get(client) ?? []).filter((one) => one !== client))
      waiting.delete(client)
    }
    const isDone = [...this.#runs.values()].every((run) => run.levels.length === run.structs.length)
    return isDone ? null : GAPS
  }

  // Returns the client for which the run waits; null at its end.
  #advance(run: Run): number | string | null {
    while (run.levels.length < run.structs.length) {
      const struct = run.structs[run.levels.length]!
      const missing = needsOf(struct).find(({ client, clock }) => clock >= this.stateOf(client))
      if (missing) return missing.client
      const level = struct instanceof Y.Item ? this.#levelOf(struct) : 0
      if (level > DEPTH_MAX) return `it nests types more than ${DEPTH_MAX} deep`
      if (struct instanceof Y.Item && !isShallow(valuesOf(struct.content), DEPTH_MAX)) {
        return `it has a value that is nested more than ${DEPTH_MAX} deep`
      }
      run.levels.push(level)
      const { client } = struct.id
      this.#states.set(client, Math.max(this.stateOf(client), endOf(struct)))
    }
    return null
  }

  #levelOf({ parent, origin, rightOrigin }: Y.Item): number {
    if (parent instanceof Y.ID) return this.#levelAt(parent) + 1
    const beside = parent === null ? (origin ?? rightOrigin) : null
    return beside ? this.#levelAt(beside) : 0
  }

  // The level of a struct that is in the document, or before in the update.
  #levelAt({ client, clock }: Y.ID): number {
    const { store } = this.#doc
    if (clock < stateOf(this.#doc, client)) {
      const structs = store.clients.get(client)!
      return levelIn(structs[Y.findIndexSS(structs, clock)]!)
    }
    const { structs, levels } = this.#runs.get(client)!
    return levels[indexOf(structs, clock)]!
  }
}

function levelIn(struct: Struct): number {
  let level = 0
  let item: Y.Item | null = struct instanceof Y.Item ? struct : null
  while (item && level <= DEPTH_MAX) {
    const { parent }: Y.Item = item
    item = parent instanceof Y.AbstractType ? parent._item : null
    if (item) level++
  }
  return level
}

// The struct that has a clock, by bisection.
function indexOf(structs: readonly Struct[], clock: number): number {
  let low = 0
  let high = structs.length - 1
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if (structs[middle]!.id.clock <= clock) low = middle
    else high = middle - 1
  }
  return low
}

function needsOf(struct: Struct): Y.ID[] {
  if (!(struct instanceof Y.Item)) return []
  const { origin, rightOrigin, parent } = struct
  return [origin, rightOrigin, parent].filter((one) => one instanceof Y.ID)
}

function valuesOf(content: Y.Item['content']): unknown {
  if (content instanceof Y.ContentAny || content instanceof Y.ContentJSON) return content.arr
  if (content instanceof Y.ContentEmbed) return content.embed
  if (content instanceof Y.ContentFormat) return content.value
  return 'opts' in content ? content.opts : null
}

function isShallow(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return true
  return levels > 0 && Object.values(value).every((one) => isShallow(one, levels - 1))
}

// Whether an update deletes anything that is not deleted yet; or why it is not applied.
function deletesOf(
  doc: Y.Doc,
  order: Order,
  { clients }: ReturnType<typeof Y.decodeUpdate>['ds'],
): boolean | string {
  let isNew = false
  for (const [client, ranges] of clients) {
    for (const { clock, len } of ranges) {
      if (len === 0 || clock + len > order.stateOf(client)) return GAPS
      isNew ||= !isDeleted(doc, client, clock, clock + len)
    }
  }
  return isNew
}

function isDeleted({ store }: Y.Doc, client: number, from: number, to: number): boolean {
  const structs = store.clients.get(client)
  if (!structs || from >= Y.getState(store, client)) return false
  for (let at = Y.findIndexSS(structs, from); at < structs.length; at++) {
    const struct = structs[at]!
    if (struct.id.clock >= to) return true
    if (!struct.deleted) return false
  }
  return endOf(structs.at(-1)!) >= to
}
