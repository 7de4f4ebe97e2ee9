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
import { merge, moved } from './text.ts'

/** How long after the last key the shared text is shown, in ms. */
const REST_MS = 1_000
/** How often a text is merged and written again because another writer was first. */
const ATTEMPTS_MAX = 8

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
export function useField<F extends Fields>(handle: AnyHandle<F>, name: TextName<F>): FieldProps {
  const state = useValue(handle)
  const of = `${handle.id} ${name}`
  const [draft, setDraft] = useState<Draft | null>(null)
  const [refused, setRefused] = useState('')
  const writer = useRef<Writer | null>(null)
  if (writer.current?.of !== of) writer.current = new Writer(of, handle as AnyHandle, name)
  const own = draft?.of === of ? draft : null
  const value = own?.text ?? (state[name] as string | null) ?? ''
  const ref = useCaret(value, own !== null && !own.isMerged)

  const rest = (): void => writer.current!.rest(() => setDraft(null))
  useEffect(() => {
    if (draft === null) return
    const timer = setTimeout(rest, REST_MS)
    return () => clearTimeout(timer)
  }, [draft])

  const change = (element: TextElement, isComposing: boolean): void => {
    const text = writer.current!.type(value, element.value)
    setDraft({ of, text, isMerged: text !== element.value })
    setRefused('')
    if (isComposing) return
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

function textOf(handle: AnyHandle, name: string): string {
  return (handle.state[name] as string | null | undefined) ?? ''
}

interface Outcomes {
  /** The text now has what another user typed, too. */
  readonly merged: (text: string) => void
  readonly refused: () => void
}

/** Writes the newest text of a field, one at a time, merged with what others wrote. */
class Writer {
  readonly of: string
  readonly #handle: AnyHandle
  readonly #name: string
  // What this user has typed, and the shared text that it was typed into; null at rest.
  #own: string | null = null
  #base = ''
  #isWriting = false
  #isNewer = false
  #whenDone: (() => void) | null = null

  constructor(of: string, handle: AnyHandle, name: string) {
    this.of = of
    this.#handle = handle
    this.#name = name
  }

  /** The user changed the text that was shown. @returns the text with what came meanwhile */
  type(shown: string, typed: string): string {
    if (this.#own === null) {
      this.#base = shown
      this.#own = typed
    } else this.#own = merge(shown, typed, this.#own)
    this.#whenDone = null
    return this.#own
  }

  write(outcomes: Outcomes): void {
    this.#isNewer = true
    if (!this.#isWriting) void this.#run(outcomes)
  }

  /** Forgets what was typed once it is written, unless there is more until then. */
  rest(done: () => void): void {
    this.#whenDone = () => {
      this.#own = null
      done()
    }
    if (!this.#isWriting) this.#finish()
  }

  #finish(): void {
    const done = this.#whenDone
    this.#whenDone = null
    done?.()
  }

  async #run(outcomes: Outcomes): Promise<void> {
    this.#isWriting = true
    let attempts = 0
    while (this.#isNewer && attempts < ATTEMPTS_MAX) {
      this.#isNewer = false
      const outcome = await this.#writeOnce(outcomes)
      attempts = outcome === 'done' ? 0 : attempts + 1
      if (outcome === 'late') this.#isNewer = true
      if (outcome === 'refused') attempts = ATTEMPTS_MAX
    }
    this.#isWriting = false
    if (attempts === 0) return this.#finish()
    this.#isNewer = false
    this.#own = null
    this.#whenDone = null
    outcomes.refused()
  }

  async #writeOnce({ merged }: Outcomes): Promise<'done' | 'late' | 'refused'> {
    const handle = this.#handle
    try {
      if (!('update' in handle) && !handle.mine && !(await handle.take()).ok) return 'refused'
      const shared = textOf(handle, this.#name)
      const text = merge(this.#base, this.#own!, shared)
      if (text !== this.#own) merged(text)
      // A later edit is to this text, of which `shared` is a part.
      this.#own = text
      this.#base = shared
      const patch = { [this.#name]: text } as never
      if (!('update' in handle)) handle.set(patch)
      else {
        const outcome = await handle.update(patch)
        if (!outcome.ok) return outcome.code === 'late' ? 'late' : 'refused'
      }
      this.#base = text
      return 'done'
    } catch {
      return 'refused'
    }
  }
}
