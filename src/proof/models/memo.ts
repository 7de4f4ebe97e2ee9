/**
 * What was computed once of two numbers, looked up from then on: what a process makes of an input,
 * a queue with one more behind. Numbers stand for values that are kept once (interned.ts), so a
 * step of a model is a few lookups, without a text or a value made on the way.
 *
 * The table is open addressing with linear steps, at most half full. A slot is three numbers: the
 * first of the two + 1, so that 0 is free, the second, and where the value stands.
 */

/** Values by two numbers, each at least 0. */
export interface Memo<Value> {
  readonly values: Value[]
  slots: Int32Array
}

const SLOTS_FIRST = 256
const SLOT = 3

/** Nothing so far. */
export function create<Value>(): Memo<Value> {
  return { values: [], slots: new Int32Array(SLOTS_FIRST * SLOT) }
}

/** What is known of the two, if anything is. */
export function find<Value>({ values, slots }: Memo<Value>, a: number, b: number): Value | null {
  for (let slot = slotOf(slots, a, b); ; slot = next(slots, slot)) {
    if (slots[slot] === 0) return null
    if (slots[slot] === a + 1 && slots[slot + 1] === b) return values[slots[slot + 2]!]!
  }
}

/** From now on that is known of the two, of which nothing was. @returns the value */
export function keep<Value>(memo: Memo<Value>, a: number, b: number, value: Value): Value {
  const { values } = memo
  if ((values.length + 1) * SLOT * 2 > memo.slots.length) grow(memo)
  place(memo.slots, a, b, values.length)
  values.push(value)
  return value
}

function place(slots: Int32Array, a: number, b: number, at: number): void {
  let slot = slotOf(slots, a, b)
  while (slots[slot] !== 0) slot = next(slots, slot)
  slots[slot] = a + 1
  slots[slot + 1] = b
  slots[slot + 2] = at
}

function grow<Value>(memo: Memo<Value>): void {
  const { slots } = memo
  memo.slots = new Int32Array(slots.length * 2)
  for (let slot = 0; slot < slots.length; slot += SLOT) {
    if (slots[slot] !== 0) {
      place(memo.slots, slots[slot]! - 1, slots[slot + 1]!, slots[slot + 2]!)
    }
  }
}

function slotOf(slots: Int32Array, a: number, b: number): number {
  const mixed = Math.imul(a, 0x9e3779b1) ^ Math.imul(b, 0x85ebca6b)
  // Slots are a power of two times three.
  return ((mixed ^ (mixed >>> 15)) & (slots.length / SLOT - 1)) * SLOT
}

function next(slots: Int32Array, slot: number): number {
  return slot + SLOT === slots.length ? 0 : slot + SLOT
}

/** What is computed of two numbers, once of each two. */
export function remembering<Value>(
  make: (a: number, b: number) => Value,
): (a: number, b: number) => Value {
  const memo = create<Value>()
  return (a, b) => find(memo, a, b) ?? keep(memo, a, b, make(a, b))
}
