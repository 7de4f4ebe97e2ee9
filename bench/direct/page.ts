/** A window of the bench `direct`: it joins, moves a thing, and notes what its channels carry. */

import { join, object, type Session, text } from '../../packages/holdfast/src/browser.ts'

/** Sealed packets that the channels of a window carried, both ways. */
interface Carried {
  frames: number
  bytes: number
}

/** One sealed packet that left or came. */
interface Frame {
  /** By which the other end finds it. */
  head: string
  bytes: number
  /** Milliseconds since 1970. */
  at: number
}

/** The functions of a window that the bench calls. */
export interface Own {
  /** @returns when `join` was resolved, in ms since 1970 */
  enter: (room: string) => Promise<number>
  /** @returns when packets to all so many others go directly */
  isDirect: (others: number) => Promise<number>
  /** Changes a thing 60 times a second from now on. */
  play: () => void
  role: () => string
  carried: () => Carried
  /** Notes each frame from now on. */
  note: () => void
  noted: () => Frame[]
}

const Thing = object('thing', { body: text(200) })
/** About two thirds of a packet. */
const BODY = 'x'.repeat(197)
const LOOK_MS = 2
const FRAMES_MS = 1_000 / 60

const page = globalThis as unknown as Own
let session: Session
let frames: Frame[] | null = null
const carried: Carried = { frames: 0, bytes: 0 }

// Windows of one computer have one clock.
const now = (): number => performance.timeOrigin + performance.now()

function note(data: ArrayBuffer | ArrayBufferView<ArrayBuffer>): void {
  const bytes = ArrayBuffer.isView(data)
    ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
    : new Uint8Array(data)
  carried.frames += 1
  carried.bytes += bytes.length
  // Keys and number of a sealed packet are in its head, so no two frames begin alike.
  frames?.push({ head: bytes.subarray(0, 24).join(), bytes: bytes.length, at: now() })
}

class NotedConnection extends RTCPeerConnection {
  override createDataChannel(...words: [string, RTCDataChannelInit?]): RTCDataChannel {
    const channel = super.createDataChannel(...words)
    channel.addEventListener('message', ({ data }) => note(data as ArrayBuffer))
    const send = channel.send.bind(channel) as (data: ArrayBufferView<ArrayBuffer>) => void
    channel.send = (data: unknown) => {
      note(data as ArrayBufferView<ArrayBuffer>)
      send(data as ArrayBufferView<ArrayBuffer>)
    }
    return channel
  }
}
globalThis.RTCPeerConnection = NotedConnection

page.enter = async (room) => {
  session = await join({ game: 'direct', room, types: [Thing], keepRoom: false, webrtc: true })
  return now()
}
page.isDirect = async (others) => {
  for (;;) {
    const kinds = session.paths().map(({ kind }) => kind)
    if (kinds.length === others && kinds.every((kind) => kind === 'webrtc')) return now()
    await new Promise((done) => setTimeout(done, LOOK_MS))
  }
}
page.play = () => {
  const thing = session.create(Thing, { body: '' })
  let count = 0
  setInterval(() => thing.set({ body: `${count++ % 1_000}${BODY}` }), FRAMES_MS)
}
page.role = () => session.debug.figures().role
page.carried = () => carried
page.note = () => void (frames = [])
page.noted = () => frames ?? []
