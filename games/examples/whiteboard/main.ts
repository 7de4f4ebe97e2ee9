/**
 * A whiteboard that outlives its windows: each line is an object that the room keeps for thirty
 * days. Who comes back in this tab is the same player, and may still undo what they drew.
 */

import { type HoldfastError, join, type ObjectHandle, type Session } from 'holdfast'
import { draw, placeOn } from './drawing.ts'
import { type Ink, INKS, Pointer, POINTS_MAX, Stroke, type StrokeHandle } from './strokes.ts'

const GAME = 'whiteboard'
const room = new URLSearchParams(location.search).get('room') ?? 'main'
const canvas = document.querySelector<HTMLCanvasElement>('#board')!
const status = document.querySelector<HTMLOutputElement>('#status')!
const part = <E extends HTMLElement>(id: string): E => document.querySelector<E>(`#${id}`)!

async function enter(where: string, from?: Uint8Array): Promise<Session> {
  const word = `${GAME}/${where}`
  const token = sessionStorage.getItem(word)
  const keeping = { keepRoom: '30d', ...(token && { token }), ...(from && { from }) } as const
  const made = await join({ game: GAME, room: where, types: [Stroke, Pointer], ...keeping })
  const remember = (): void => sessionStorage.setItem(word, made.token)
  made.on('members', remember)
  remember()
  return made
}

let ink: Ink = 'black'
let line: StrokeHandle | null = null
let pointer: ObjectHandle<typeof Pointer.schema.fields> | null = null

function begin(session: Session): void {
  const show = (): void => {
    const strokes = session.all(Stroke)
    part('hint').hidden = strokes.length > 0
    const { length } = session.members
    const others = length === 1 ? 'You are alone' : `${length} are here`
    status.value =
      session.status === 'live' ? `${others}; ${WORDS[session.safety]}` : session.status
    document.body.dataset['status'] = session.status
    document.body.dataset['safety'] = session.safety
    document.body.dataset['strokes'] = String(strokes.length)
  }
  for (const name of ['status', 'safety', 'members'] as const) session.on(name, show)
  session.all(Stroke).subscribe(show)
  session.on('error', ({ error }) => (status.value = String(error)))
  show()
  const frame = (): void => {
    draw(canvas, session.all(Stroke), session.all(Pointer))
    requestAnimationFrame(frame)
  }
  frame()
}

const WORDS = {
  'backed-up': 'what you draw is held by two',
  kept: 'the board is kept',
  alone: 'what you draw is held by others soon',
  waiting: 'waiting for the server',
  slow: 'the backup is slow',
} as const

function draws(session: Session): void {
  canvas.addEventListener('pointerdown', (event) => {
    canvas.setPointerCapture(event.pointerId)
    line = session.create(Stroke, { ink, points: [placeOn(canvas, event)] })
  })
  canvas.addEventListener('pointermove', (event) => {
    const at = placeOn(canvas, event)
    pointer ??= session.create(Pointer, { at, ink })
    pointer.set({ at, ink })
    if (!line) return
    const { points } = line.state
    if (points.length < POINTS_MAX) line.set({ points: [...points, at] })
    // The next stroke goes on where this one ends.
    else line = session.create(Stroke, { ink, points: [points.at(-1)!, at] })
  })
  const lift = (): void => void (line = null)
  canvas.addEventListener('pointerup', lift)
  canvas.addEventListener('pointercancel', lift)
}

function mine(session: Session): StrokeHandle[] {
  return session.all(Stroke).filter((stroke) => stroke.mine && stroke !== line)
}

function tools(session: Session): void {
  const inks = Object.keys(INKS) as Ink[]
  const choices = inks.map((name, at) => {
    const choice = Object.assign(document.createElement('input'), { type: 'radio', name: 'ink' })
    choice.style.setProperty('--ink', INKS[name])
    choice.setAttribute('aria-label', `${name} (${at + 1})`)
    choice.checked = name === ink
    choice.addEventListener('change', () => void (ink = name))
    part('inks').append(choice)
    return choice
  })
  const undo = (): void => mine(session).at(-1)?.destroy()
  part('undo').addEventListener('click', undo)
  part('clear').addEventListener('click', () => mine(session).forEach((one) => one.destroy()))
  window.addEventListener('keydown', (event) => {
    if (event.key === 'z' && (event.ctrlKey || event.metaKey)) return undo()
    if (!event.ctrlKey && !event.metaKey && !event.altKey) choices[Number(event.key) - 1]?.click()
  })
  part('save').addEventListener('click', () => void save(session))
  part<HTMLInputElement>('load').addEventListener('change', ({ target }) => {
    const [file] = (target as HTMLInputElement).files ?? []
    if (file) void load(file)
  })
}

async function save(session: Session): Promise<void> {
  try {
    const bytes = await session.export()
    const link = document.createElement('a')
    link.href = URL.createObjectURL(new Blob([bytes as Uint8Array<ArrayBuffer>]))
    link.download = `${room}.board`
    link.click()
    URL.revokeObjectURL(link.href)
    status.value = `${room}.board has ${bytes.length} bytes`
  } catch (error) {
    status.value = (error as HoldfastError).message
  }
}

// A saved board begins in a room of its own, which this page then shows.
async function load(file: File): Promise<void> {
  const stem = file.name.replace(/\.board.*$/, '').slice(0, 30) || 'board'
  const name = `${stem} ${Date.now() % 100_000}`
  try {
    const copy = await enter(name, new Uint8Array(await file.arrayBuffer()))
    // Until the hub has it nobody else would find it.
    await new Promise<void>((resolve) => {
      const look = (): void => void (copy.safety === 'kept' && resolve())
      copy.on('safety', look)
      look()
    })
    await copy.leave()
    location.search = new URLSearchParams({ room: name }).toString()
  } catch (error) {
    status.value = (error as HoldfastError).message
  }
}

try {
  const session = await enter(room)
  begin(session)
  draws(session)
  tools(session)
} catch (error) {
  status.value = (error as HoldfastError).message
}
