/** A text field that several people edit: the caret stays, and what they type is merged. */

import {
  type ChangeEvent,
  type CompositionEvent,
  type RefObject,
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
} from 'react'
import type { Fields, ObjectHandle, PieceHandle, StateOf } from '../../holdfast/src/index.ts'
import { useObject, usePiece } from './hooks.ts'
import { moved } from './text.ts'
import { type AnyHandle, Writer } from './writer.ts'

/** How long after the last key the shared text is shown, in ms. */
const REST_MS = 1_000
// React 18 warns of layout effects on a server, which has none.
const useLayout = typeof document === 'undefined' ? useEffect : useLayoutEffect

/** An element that has a text and a caret. */
type TextElement = HTMLInputElement | HTMLTextAreaElement

/** Fields of texts. */
type TextName<F extends Fields> = {
  [Name in keyof F & string]: NonNullable<StateOf<F>[Name]> extends string ? Name : never
}[keyof F & string]

/** Properties for an `input` of text or a `textarea`. */
export interface FieldProps {
  /** The element, whose caret is restored. */
  readonly ref: RefObject<never>
  /** What the user types, or the shared text. */
  readonly value: string
  /** Writes the text. */
  readonly onChange: (event: ChangeEvent<TextElement>) => void
  /** Writes the text that an input method composed. */
  readonly onCompositionEnd: (event: CompositionEvent<TextElement>) => void
  /** Shows the shared text. */
  readonly onBlur: () => void
  /** The last change was refused: too long, not allowed, or the piece is held by another. */
  readonly 'aria-invalid': boolean
}

/** What this user types into a field of an object or a piece, and has not rested from. */
interface Draft {
  readonly of: string
  readonly text: string
  /** Whether it has what another user typed, too. */
  readonly isMerged: boolean
}

/**
 * Binds a text of an object or a piece to an input: `<input {...useField(card, 'title')} />`. The
 * first change is written at once, and then the newest whenever the one before has its outcome; an
 * object is taken first if it is another's. What others write into it meanwhile is merged, with the
 * caret where it was, so nobody loses what they type. After a refusal the input shows the shared
 * text again, and is `aria-invalid` until the next change.
 */
export function useField<F extends Fields>(
  handle: ObjectHandle<F> | PieceHandle<F>,
  name: TextName<F>,
): FieldProps {
  const state = useValue(handle)
  const of = `${handle.id} ${name}`
  const [draft, setDraft] = useState<Draft | null>(null)
  const [refused, setRefused] = useState('')
  const writer = useRef<Writer | null>(null)
  if (!writer.current?.isOf(handle as AnyHandle, name)) {
    writer.current = new Writer(handle as AnyHandle, name)
  }
  const own = draft?.of === of ? draft : null
  const value = own?.text ?? (state[name] as string | null) ?? ''
  const ref = useCaret(value, own !== null && !own.isMerged)

  const isComposing = useRef(false)
  const rest = (): void => writer.current!.rest(() => setDraft(null))
  useEffect(() => {
    if (draft === null || isComposing.current) return
    const timer = setTimeout(rest, REST_MS)
    return () => clearTimeout(timer)
  }, [draft])

  const change = (element: TextElement, composes: boolean): void => {
    isComposing.current = composes
    const text = writer.current!.type(value, element.value)
    setDraft({ of, text, isMerged: text !== element.value })
    setRefused('')
    if (composes) return
    writer.current!.write({
      merged: (all) => setDraft({ of, text: all, isMerged: true }),
      refused: () => {
        setRefused(of)
        setDraft(null)
      },
    })
  }
  return {
    ref,
    value,
    onChange: ({ currentTarget, nativeEvent }) => {
      change(currentTarget, (nativeEvent as InputEvent).isComposing)
    },
    onCompositionEnd: ({ currentTarget }) => change(currentTarget, false),
    onBlur: rest,
    'aria-invalid': refused === of,
  }
}

function useValue<F extends Fields>(
  handle: ObjectHandle<F> | PieceHandle<F>,
): Readonly<StateOf<F>> {
  // A component has either the one or the other.
  return 'update' in handle ? usePiece(handle) : useObject(handle)
}

/** Keeps the caret where it was when another changes the text. @returns the ref of the element */
function useCaret(value: string, isOwn: boolean): RefObject<never> {
  const ref = useRef<TextElement>(null)
  const selected = useRef<readonly [number, number]>([0, 0])
  const before = useRef(value)
  useEffect(() => {
    const remember = (): void => {
      const element = ref.current
      if (!element || document.activeElement !== element) return
      selected.current = [element.selectionStart ?? 0, element.selectionEnd ?? 0]
    }
    document.addEventListener('selectionchange', remember)
    return () => document.removeEventListener('selectionchange', remember)
  }, [])
  useLayout(() => {
    const element = ref.current
    const old = before.current
    before.current = value
    if (!element || isOwn || old === value || document.activeElement !== element) return
    // An input of another type than text has no caret.
    if (element.selectionStart === null) return
    const [start, end] = selected.current
    element.setSelectionRange(moved(old, value, start), moved(old, value, end))
  })
  return ref as RefObject<never>
}
