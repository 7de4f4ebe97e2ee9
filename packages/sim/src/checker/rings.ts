/**
 * Storage for a search's states: the current ring, the next ring, and the copy to which an action
 * is applied.
 *
 * States are plain data, Int32Arrays of one length (`flat`), or objects of cells (cells.ts). States
 * of the last two kinds lie in two long arrays of numbers, one per ring.
 */

import { assert } from '../../../holdfast/src/machine.ts'
import { type Cells, copyOf, layoutOf, read, write } from './cells.ts'
import { clone } from './clone.ts'
import { hash, hashNumbers } from './hash.ts'

/** The part of a model that says how states are distinguished and copied. */
interface Form<State> {
  flat?: number
  canonical?(state: State): unknown
  copy?(state: State): State
  cells?: Cells
  arrays?: readonly string[]
  aside?: readonly string[]
}

export interface Rings<State> {
  /** The 53-bit hash that identifies a state. */
  keyOf(state: State): number
  /** A mutable copy, valid until the next one is made. */
  copyOf(state: State): State
  /** Adds a state to the next ring. */
  push(state: State): void
  turn(): number
  /** A state of the current ring, by index, once each; valid until the next call. */
  take(index: number): State
}

const STATES_FIRST = 1024

export function ringsOf<State>(model: Form<State>): Rings<State> {
  if (model.cells) return ringsOfCells(model.cells, model) as Rings<State>
  if (model.flat === undefined) return ringsOfData(model)
  // `flat` asserts that the states are such arrays.
  return ringsOfNumbers(model.flat) as unknown as Rings<State>
}

function ringsOfData<State>(model: Form<State>): Rings<State> {
  let present: State[] = []
  let next: State[] = []
  return {
    keyOf: (state) => hash(model.canonical ? model.canonical(state) : state),
    copyOf: (state) => (model.copy ? model.copy(state) : clone(state)),
    push: (state) => void next.push(state),
    turn: () => {
      present = next
      next = []
      return present.length
    },
    take: (index) => {
      const state = present[index]!
      // Lets the state be collected.
      present[index] = undefined as State
      return state
    },
  }
}

function ringsOfNumbers(telling: number): Rings<Int32Array> {
  let [width, count] = [0, 0]
  let [present, next] = [new Int32Array(0), new Int32Array(0)]
  let [copied, taken] = [present, present]
  return {
    keyOf: (state) => hashNumbers(state, telling),
    copyOf: (state) => {
      copied.set(state)
      return copied
    },
    push: (state) => {
      if (width === 0) {
        width = state.length
        copied = state.slice()
        taken = state.slice()
        next = new Int32Array(width * STATES_FIRST)
      }
      const at = width * count++
      if (at === next.length) next = grown(next)
      next.set(state, at)
    },
    turn: () => {
      const turned = count
      const free = present.length > 0 ? present : new Int32Array(width * STATES_FIRST)
      present = next
      next = free
      count = 0
      return turned
    },
    take: (index) => {
      const at = width * index
      const [row, state] = [present, taken]
      for (let i = 0; i < state.length; i++) state[i] = row[at + i]!
      return state
    },
  }
}

type Fields = Record<string, unknown>

function ringsOfCells<State>(
  cells: Cells,
  { arrays = [], aside = [] }: Form<State>,
): Rings<unknown> {
  let layout = layoutOf({}, [], [])
  // The state that was taken, and the one whose cells were looked up last.
  let [taken, numbered]: [Fields, Fields] = [{}, {}]
  let [takenRow, row] = [new Int32Array(0), new Int32Array(0)]
  let [present, next, count] = [new Int32Array(0), new Int32Array(0), 0]
  const enter = (first: Fields): void => {
    layout = layoutOf(first, arrays, aside)
    takenRow = new Int32Array(layout.width)
    row = new Int32Array(layout.width)
    present = new Int32Array(layout.width * STATES_FIRST)
    next = new Int32Array(layout.width * STATES_FIRST)
    // No cell of the first state is known yet.
    taken = Object.fromEntries(
      layout.names.map((name, at) => [name, layout.lengths[at]! < 0 ? layout : []]),
    )
  }
  return {
    keyOf: (state) => {
      if (state === taken) return hashNumbers(takenRow, layout.telling)
      if (layout.width === 0) enter(state as Fields)
      numbered = state as Fields
      write(cells, layout, numbered, row, taken, takenRow)
      return hashNumbers(row, layout.telling)
    },
    copyOf: (state) => copyOf(layout, state as Fields),
    push: (state) => {
      assert(state === numbered, 'a state joins a ring right after its cells were looked up')
      const at = layout.width * count++
      if (at === next.length) next = grown(next)
      next.set(row, at)
    },
    turn: () => {
      const turned = count
      ;[present, next] = [next, present]
      count = 0
      return turned
    },
    take: (index) => {
      const at = layout.width * index
      takenRow.set(present.subarray(at, at + layout.width))
      taken = read(cells, layout, takenRow)
      return taken
    },
  }
}

function grown(row: Int32Array): Int32Array<ArrayBuffer> {
  const longer = new Int32Array(row.length * 2)
  longer.set(row)
  return longer
}
