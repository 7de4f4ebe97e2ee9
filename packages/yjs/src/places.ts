/**
 * The places of items in lists, as Yjs would find them, without changing the document. Where others
 * inserted meanwhile, Yjs looks through them one by one; an update may be made so that each item
 * looks through all the others. So the steps are counted before, and the document is left alone.
 */

import * as Y from 'yjs'

export type Struct = Y.Item | Y.GC

/** Most steps of an update: about a quarter of a second. */
export const STEPS_MAX = 1_000_000

/** A list of items: of a type, or of one key of it. */
export interface Place {
  /** How many types contain it. */
  readonly level: number
  readonly key: string | null
  /** The first item; undefined before somebody asks. */
  start: Piece | null | undefined
  /** How many items a key has. */
  count: number
  readonly parent: Y.AbstractType<unknown> | null
}

/** An item or a part of one, in a list with others. */
interface Piece {
  readonly item: Y.Item
  readonly clock: number
  length: number
  readonly origin: Y.ID | null
  readonly rightOrigin: Y.ID | null
  /** Undefined for what the document has beside the item. */
  left: Piece | null | undefined
  right: Piece | null | undefined
}

type Found = { readonly struct: Struct; readonly place: Place | null }
type Keys = Map<string | null, Place>

/** Of what Yjs drops, since what it names is gone. */
export const NOWHERE: Place = { level: 0, key: null, start: null, count: 0, parent: null }

export class Places {
  readonly #doc: Y.Doc
  readonly #find: (id: Y.ID) => Found
  // By type, name of a root that is new, or item that has a new type.
  readonly #places = new Map<unknown, Keys>()
  readonly #pieces = new Map<Y.Item, Piece[]>()
  #steps = 0

  constructor(doc: Y.Doc, find: (id: Y.ID) => Found) {
    this.#doc = doc
    this.#find = find
  }

  /** Where an item would be; or why that is not known. */
  placeOf({ origin, rightOrigin, parent, parentSub }: Y.Item): Place | string {
    const beside = [origin, rightOrigin].filter((id) => id !== null).map((id) => this.#at(id))
    if (beside.length > 0) {
      if (beside.includes(NOWHERE)) return NOWHERE
      return beside[0] === (beside[1] ?? beside[0]) ? beside[0]! : 'it has an item in two lists'
    }
    if (!(parent instanceof Y.ID)) {
      const name = parent as unknown as string
      return this.#place(this.#doc.share.get(name) ?? name, parentSub, 0)
    }
    const { struct, place } = this.#find(parent)
    const { content } = struct as Partial<Y.Item>
    if (!(content instanceof Y.ContentType) || place === NOWHERE) return NOWHERE
    return this.#place(content.type, parentSub, (place?.level ?? levelIn(struct)) + 1)
  }

  #at(id: Y.ID): Place {
    const { struct, place } = this.#find(id)
    if (place) return place
    if (!(struct instanceof Y.Item)) return NOWHERE
    return this.#place(struct.parent, struct.parentSub, levelIn(struct))
  }

  #place(of: unknown, key: string | null, level: number): Place {
    let keys = this.#places.get(of)
    if (!keys) this.#places.set(of, (keys = new Map<string | null, Place>()))
    let place = keys.get(key)
    const parent = of instanceof Y.AbstractType ? of : null
    if (!place) keys.set(key, (place = { level, key, start: undefined, count: 0, parent }))
    return place
  }

  /** Puts an item into its place. @returns why that takes too long, or null */
  put(item: Y.Item, place: Place): string | null {
    const { id, length, origin, rightOrigin } = item
    let left = origin && this.#endingAt(origin)
    const right = rightOrigin && this.#startingAt(rightOrigin)
    const piece: Piece = {
      ...{ item, clock: id.clock, length, origin, rightOrigin },
      ...{ left: null, right: null },
    }
    const isBeside = left
      ? this.#rightOf(left) === right && left.clock + left.length === origin!.clock + 1
      : right !== null && this.#leftOf(right) === null
    if (!isBeside && !this.#canBe(origin, left, right))
      return 'it has an item between two that were never beside each other'
    // For a key, Yjs goes to the first item from the last.
    if (!left) this.#start(place)
    if (!left && place.key !== null) this.#steps += place.count
    if (!isBeside) left = this.#scan(piece, left, right, place)
    if (this.#steps > STEPS_MAX) return 'it inserts too much at one place at once'
    const next = left ? this.#rightOf(left) : this.#start(place)
    piece.left = left
    piece.right = next
    if (left) left.right = piece
    else place.start = piece
    if (next) next.left = piece
    place.count++
    this.#pieces.set(item, [piece])
    return null
  }

  // Whether the two can have been beside each other: the left one first, and between them nothing
  // that one of them names as its neighbor. Otherwise the place of the item would depend on the
  // order of updates, and copies would differ.
  #canBe(origin: Y.ID | null, left: Piece | null, right: Piece | null): boolean {
    if (!left || !right) return (left ? left.rightOrigin : right && right.origin) === null
    // Cutting off the right one may have cut the left one.
    if (left.clock + left.length !== origin!.clock + 1) return false
    const ends = left.rightOrigin
    if (ends && Y.compareIDs(ends, Y.createID(right.item.id.client, right.clock))) return true
    const between = [ends, right.origin].map((id) => id && this.#pieceAt(id))
    let piece = this.#rightOf(left)
    while (piece && piece !== right && this.#steps++ <= STEPS_MAX) {
      if (between.includes(piece)) return false
      piece = this.#rightOf(piece)
    }
    return piece !== null
  }

  // Yjs sorts items with the same origin by client; what was inserted at them stays at them.
  #scan(piece: Piece, origin: Piece | null, right: Piece | null, place: Place): Piece | null {
    const { client } = piece.item.id
    const seen = new Set<Piece>()
    let open = new Set<Piece>()
    let left = origin
    let other = left ? this.#rightOf(left) : this.#start(place)
    while (other && other !== right && this.#steps++ <= STEPS_MAX) {
      seen.add(other)
      open.add(other)
      let isPassed = false
      if (Y.compareIDs(piece.origin, other.origin)) {
        isPassed = other.item.id.client < client
        if (!isPassed && Y.compareIDs(piece.rightOrigin, other.rightOrigin)) break
      } else {
        const before = other.origin && this.#pieceAt(other.origin)
        if (!before || !seen.has(before)) break
        isPassed = !open.has(before)
      }
      if (isPassed) {
        left = other
        open = new Set()
      }
      other = this.#rightOf(other)
    }
    return left
  }

  #start(place: Place): Piece | null {
    if (place.start !== undefined) return place.start
    const { parent, key } = place
    let item = (key === null ? parent?._start : parent?._map.get(key)) ?? null
    while (item && item.left !== null && this.#steps++ <= STEPS_MAX) {
      item = item.left
      place.count++
    }
    place.start = item && this.#piecesOf(item)[0]!
    return place.start
  }

  #rightOf(piece: Piece): Piece | null {
    if (piece.right !== undefined) return piece.right
    const { right } = piece.item
    return right && this.#piecesOf(right)[0]!
  }

  #leftOf(piece: Piece): Piece | null {
    if (piece.left !== undefined) return piece.left
    const { left } = piece.item
    return left && this.#piecesOf(left).at(-1)!
  }

  #piecesOf(item: Y.Item): Piece[] {
    let pieces = this.#pieces.get(item)
    if (pieces) return pieces
    const { id, length, origin, rightOrigin } = item
    const piece: Piece = {
      ...{ item, clock: id.clock, length, origin, rightOrigin },
      ...{ left: undefined, right: undefined },
    }
    this.#pieces.set(item, (pieces = [piece]))
    return pieces
  }

  #indexOf(pieces: readonly Piece[], clock: number): number {
    let low = 0
    let high = pieces.length - 1
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if (pieces[middle]!.clock <= clock) low = middle
      else high = middle - 1
    }
    return low
  }

  #pieceAt(id: Y.ID): Piece | null {
    const { struct } = this.#find(id)
    if (!(struct instanceof Y.Item)) return null
    const pieces = this.#piecesOf(struct)
    return pieces[this.#indexOf(pieces, id.clock)]!
  }

  #endingAt(id: Y.ID): Piece {
    return this.#cut(id, id.clock + 1)[0]
  }

  #startingAt(id: Y.ID): Piece {
    return this.#cut(id, id.clock)[1]
  }

  // The pieces before and after a clock, one of which has the id; both are that one at its end.
  #cut(id: Y.ID, clock: number): [Piece, Piece] {
    const pieces = this.#piecesOf(this.#find(id).struct as Y.Item)
    const at = this.#indexOf(pieces, id.clock)
    const piece = pieces[at]!
    if (clock === piece.clock || clock === piece.clock + piece.length) return [piece, piece]
    const { item, rightOrigin, right } = piece
    const rest: Piece = {
      ...{ item, clock, length: piece.clock + piece.length - clock, rightOrigin },
      ...{ origin: Y.createID(id.client, clock - 1), left: piece, right },
    }
    piece.length = clock - piece.clock
    piece.right = rest
    if (right) right.left = rest
    pieces.splice(at + 1, 0, rest)
    return [piece, rest]
  }
}

function levelIn(struct: Struct): number {
  let level = 0
  let item: Y.Item | null = struct instanceof Y.Item ? struct : null
  while (item) {
    const { parent }: Y.Item = item
    item = parent instanceof Y.AbstractType ? parent._item : null
    if (item) level++
  }
  return level
}
