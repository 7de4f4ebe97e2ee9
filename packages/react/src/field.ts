/** A text field that several people edit: the caret stays, and remote changes wait for a rest. */

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

/** How long after the last key remote changes are shown, in ms. */
const REST_MS = 1_000

// React 18 warns of layout effects on a server, which has none.
const useLayout = typeof document === 'undefined' ? useEffect : useLayoutEffect

/** An element that has a text and a caret. */
type TextElement = HTMLInputElement | HTMLTextAreaElement

type AnyHandle<F extends Fields = Fields> = ObjectHandle<F> | PieceHandle<F>

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
  /** The last change was refused: too long, not allowed, or somebody was first. */
  readonly 'aria-invalid': boolean
}

/** What this user types into a field of an object or a piece, and has not rested from. */
interface Draft {
  readonly of: string
  readonly text: string
}

/**
 * Binds a text of an object or a piece to an input: `<input {...useField(card, 'title')} />`. The
 * first change is written at once, and then the newest whenever the one before has its outcome; an
 * object is taken first if it is another's. What others write shows once this user has rested for a
 * second or left the input, with the caret where it was. After a refusal the input shows the shared
 * text again, and is `aria-invalid` until the next change.
 */
export function useField<F extends Fields>(handle: AnyHandle<F>, name: TextName<F>): FieldProps {
  const state = useValue(handle)
  const of = `${handle.id} ${name}`
  const shared = (state[name] as string | null) ?? ''
  const [draft, setDraft] = useState<Draft | null>(null)
  const [refused, setRefused] = useState('')
  const text = draft?.of === of ? draft.text : null
  const value = text ?? shared
  const ref = useCaret(value, text !== null)
  const writer = useRef<Writer | null>(null)
  writer.current ??= new Writer()

  useEffect(() => {
    if (draft === null) return
    const timer = setTimeout(() => writer.current!.afterWrites(() => setDraft(null)), REST_MS)
    return () => clearTimeout(timer)
  }, [draft])

  const change = (element: TextElement, isComposing: boolean): void => {
    setDraft({ of, text: element.value })
    setRefused('')
    if (isComposing) return
    writer.current!.write(handle as AnyHandle, name, element.value, () => {
      setRefused(of)
      setDraft(null)
    })
  }
  return {
    ref,
    value,
    onChange: ({ currentTarget, nativeEvent }) => {
      change(currentTarget, (nativeEvent as InputEvent).isComposing)
    },
    onCompositionEnd: ({ currentTarget }) => change(currentTarget, false),
    onBlur: () => writer.current!.afterWrites(() => setDraft(null)),
    'aria-invalid': refused === of,
  }
}

function useValue<F extends Fields>(handle: AnyHandle<F>): Readonly<StateOf<F>> {
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

/** Writes one text at a time: of those that come meanwhile, the newest. */
class Writer {
  #next: (() => Promise<boolean>) | null = null
  #isWriting = false
  #refuse = (): void => {}
  #then: (() => void) | null = null

  write(handle: AnyHandle, name: string, text: string, refuse: () => void): void {
    this.#next = () => write(handle, { [name]: text })
    this.#refuse = refuse
    this.#then = null
    if (!this.#isWriting) void this.#run()
  }

  /** Calls a function when no write waits, unless there is another until then. */
  afterWrites(run: () => void): void {
    if (this.#isWriting) this.#then = run
    else run()
  }

  async #run(): Promise<void> {
    this.#isWriting = true
    let isDone = true
    while (this.#next) {
      const next = this.#next
      this.#next = null
      isDone = await next()
    }
    this.#isWriting = false
    const then = this.#then
    this.#then = null
    if (!isDone) this.#refuse()
    else then?.()
  }
}

async function write(handle: AnyHandle, patch: Record<string, string>): Promise<boolean> {
  try {
    if ('update' in handle) return (await handle.update(patch as never)).ok
    if (!handle.mine && !(await handle.take()).ok) return false
    handle.set(patch as never)
    return true
  } catch {
    return false
  }
}

// Where a caret is after a text changed elsewhere: what stands before or behind it stays there.
function moved(before: string, after: string, caret: number): number {
  let start = 0
  while (start < caret && before[start] === after[start]) start++
  if (start === caret) return caret
  // The change began before the caret, so what is behind it stays.
  return Math.max(start, after.length - (before.length - caret))
}
