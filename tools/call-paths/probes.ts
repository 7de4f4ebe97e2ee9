/**
 * Probes on the paths of a real session: where the socket sends, and where a part is called.
 *
 * A stack ends where something waits: what a part tells is queued until the verb has returned, and
 * a change leaves some milliseconds later. So a path is several stacks, and each is taken where it
 * is deepest: at the socket, in the part, and at the listener of the application.
 */

import dgram from 'node:dgram'
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { WebSocket } from 'ws'
import type { Definition, Kind } from '../../packages/holdfast/src/kind/kind.ts'
import { framesHere, type Observed } from './stacks.ts'

type Verb = (...args: unknown[]) => unknown

/** The stacks of one path, each place once. */
export class Trail {
  readonly stacks: Observed[] = []

  /** @param inner  the module that is about to be entered, or was just left */
  note(at: string, inner?: string): void {
    if (this.saw(at)) return
    const frames = framesHere()
    if (inner !== undefined) frames.push({ module: inner, file: '', line: 0, column: 0 })
    this.stacks.push({ at, frames })
  }

  saw(at: string): boolean {
    return this.stacks.some((stack) => stack.at === at)
  }
}

/** Calls before each datagram that a socket of this process sends. @returns stops it */
export function watchSockets(sends: () => void): () => void {
  // oxlint-disable-next-line typescript/unbound-method -- It is put back as it was.
  const before = dgram.Socket.prototype.send as Verb
  dgram.Socket.prototype.send = function (this: unknown, ...args: unknown[]) {
    sends()
    return before.apply(this, args)
  } as never
  return () => void (dgram.Socket.prototype.send = before as never)
}

/** Calls before each message that a member puts on its stream to the hub. @returns stops it */
export function watchStreams(sends: (message: Uint8Array) => void): () => void {
  // oxlint-disable-next-line typescript/unbound-method -- It is put back as it was.
  const before = WebSocket.prototype.send as Verb
  WebSocket.prototype.send = function (this: unknown, message: unknown, ...rest: unknown[]) {
    if (message instanceof Uint8Array) sends(message)
    return before.apply(this, [message, ...rest])
  } as never
  return () => void (WebSocket.prototype.send = before as never)
}

/** Calls before each sync of a file, which is what makes a write durable. @returns stops it */
export function watchDisk(syncs: () => void): () => void {
  const before = fs.fdatasync as Verb
  const put = (verb: Verb): void => {
    fs.fdatasync = verb as never
    syncBuiltinESMExports()
  }
  put((...args) => {
    syncs()
    return before(...args)
  })
  return () => put(before)
}

/**
 * The same definition, of whose part one member's verbs are watched.
 *
 * @param called  a verb was called, and what it gave once it has returned
 */
export function watchPart<Type extends Definition>(
  type: Type,
  called: (verb: string, before: boolean, gave: unknown) => void,
): Type {
  const kind: Kind = {
    ...type.kind,
    open: (definitions, host) => {
      const opened = type.kind.open(definitions, host)
      return { ...opened, part: watched(opened.part, called) }
    },
  }
  return { ...type, kind }
}

function watched<Part extends object>(
  part: Part,
  called: (verb: string, before: boolean, gave: unknown) => void,
): Part {
  const verbs = Object.entries(part).map(([name, verb]: [string, unknown]) => {
    if (typeof verb !== 'function') return [name, verb]
    const run = (...args: unknown[]): unknown => {
      called(name, true, undefined)
      const gave = (verb as Verb).apply(part, args)
      called(name, false, gave)
      return gave
    }
    return [name, run]
  })
  return Object.fromEntries(verbs) as Part
}
