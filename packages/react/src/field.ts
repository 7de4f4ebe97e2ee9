/** A text field that several people edit: the caret stays, and remote changes wait for a rest. */

import {
  type ChangeEvent,
  type RefObject,
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
} from 'react'
import type { Fields, ObjectHandle, PieceHandle, StateOf } from '../../holdfast/src/index.ts'
import { useObject } from './hooks.ts'

/** How long after the last key remote changes are shown, in ms. */
const REST_MS = 1_000

/** An element that has a text and a caret. */
type TextElement = HTMLInputElement | HTMLTextAreaElement

/** Fields of texts. */
type TextName<F extends Fields> = {
  [Name in keyof F & string]: NonNullable<StateOf<F>[Name]> extends string ? Name : never
}[keyof F & string]

/** Properties for an `input` or a `textarea`. */
export interface FieldProps {
  /** The element, whose caret is restored. */
  readonly ref: RefObject<never>
  /** What the user types, or the shared text. */
  readonly value: string
  /** Writes the text. */
  readonly onChange: (event: ChangeEvent<TextElement>) => void
  /** Shows the shared text. */
  readonly onBlur: () => void
  /** The last change was refused: too long, not allowed, or somebody was first. */
  readonly 'aria-invalid': boolean
}

/**
 * Binds a text of an object or a piece to an input: `<input {...useField(card, 'title')} />`. Each
 * change is written at once; an object is taken first if it is another's. What others write shows
 * once this user has rested for a second or left the input, with the caret where it was. After a
 * refusal the input shows the true text again, and is `aria-invalid` until the next change.
 */
export function useField<F extends Fields>(
  handle: ObjectHandle<F> | PieceHandle<F>,
  name: TextName<F>,
): FieldProps {
  const state = useObject(handle as ObjectHandle<F>)
  const shared = (state[name] as string | null) ?? ''
  const ref = useRef<TextElement>(null)
  const caret = useRef(0)
  const [draft, setDraft] = useState<string | null>(null)
  const [isRefused, setRefused] = useState(false)
  const value = draft ?? shared
  const before = useRef(value)

  useEffect(() => {
    if (draft === null) return
    const timer = setTimeout(() => setDraft(null), REST_MS)
    return () => clearTimeout(timer)
  }, [draft])

  useLayoutEffect(() => {
    const element = ref.current
    // A change by another moves the caret to the end: put it behind the same text as before.
    if (element && draft === null && before.current !== value && isFocused(element)) {
      const at = moved(before.current, value, caret.current)
      element.setSelectionRange(at, at)
    }
    before.current = value
    caret.current = element?.selectionStart ?? 0
  })

  const onChange = ({ target }: ChangeEvent<TextElement>): void => {
    setDraft(target.value)
    setRefused(false)
    void write(handle, { [name]: target.value }).then((isDone) => {
      if (isDone) return
      setRefused(true)
      setDraft(null)
    })
  }
  return {
    ref: ref as RefObject<never>,
    value,
    onChange,
    onBlur: () => setDraft(null),
    'aria-invalid': isRefused,
  }
}

async function write(given: unknown, patch: Record<string, string>): Promise<boolean> {
  const handle = given as ObjectHandle | PieceHandle
  try {
    if ('update' in handle) return (await handle.update(patch as never)).ok
    if (!handle.mine && !(await handle.take()).ok) return false
    handle.set(patch as never)
    return true
  } catch {
    return false
  }
}

function isFocused(element: Element): boolean {
  return element.ownerDocument.activeElement === element
}

/** Where a caret is after a text changed elsewhere: what stands before or behind it stays so. */
export function moved(before: string, after: string, caret: number): number {
  let start = 0
  while (start < caret && before[start] === after[start]) start++
  if (start === caret) return caret
  // The change began before the caret, so what is behind it stays.
  return Math.max(start, after.length - (before.length - caret))
}
