/**
 * Datagram sockets in a simulated network. Addresses are `sim:name`, then `sim:name:2` and so on
 * for further sockets of the same process.
 */

import type { Millis } from '../../holdfast/src/machine.ts'
import { DATAGRAM_MAX, type DatagramEvents, type Datagrams } from '../../holdfast/src/ports.ts'
import { content, note, sent, type Ground } from './ground.ts'
import type { Machine } from './machines.ts'
import * as paths from './paths.ts'
import type { Paths } from './paths.ts'
import * as timeline from './timeline.ts'

interface Socket {
  readonly address: string
  readonly machine: Machine
  readonly life: number
  readonly events: DatagramEvents
}

const SCHEME = 'sim:'
/** Overwrites a datagram when its receiver has returned, to expose one that retained it. */
const SCRIBBLE = 0xdd

export function create(ground: Ground, network: Paths, machines: ReadonlyMap<string, Machine>) {
  return {
    ground,
    paths: network,
    machines,
    open: new Map<string, Socket>(),
    /** Cache of the machine of each target address; machines are never removed. */
    targets: new Map<string, Machine>(),
  }
}

export type Sockets = ReturnType<typeof create>

/** Opens a socket for the current process. */
export function open(
  sockets: Sockets,
  machine: Machine,
  life: number,
  events: DatagramEvents,
): Datagrams {
  const address = freeAddress(sockets, machine.name)
  const socket: Socket = { address, machine, life, events }
  if (life === machine.life) sockets.open.set(address, socket)
  const isOpen = (): boolean => sockets.open.get(address) === socket
  return {
    addresses: [address],
    reaches: (to) => to.startsWith(SCHEME),
    send: (to, bytes) => void (isOpen() && send(sockets, socket, to, bytes)),
    close: () => void (isOpen() && sockets.open.delete(address)),
  }
}

export function closeAll(sockets: Sockets, machine: Machine): void {
  for (const [address, socket] of sockets.open) {
    if (socket.machine === machine) sockets.open.delete(address)
  }
}

/** Reports to a process that nobody listens at an address, whether true or forged. */
export function refuse({ ground, open }: Sockets, machine: Machine, address: string): void {
  note(ground, machine.name, `is told that nobody listens at ${address}, out of nothing`)
  for (const socket of open.values()) {
    if (socket.machine !== machine) continue
    const report = (): void => {
      if (open.get(socket.address) === socket) socket.events.refused(address)
    }
    timeline.add(ground.timeline, ground.timeline.now, report, machine, socket.life)
  }
}

function freeAddress(sockets: Sockets, name: string): string {
  const first = `${SCHEME}${name}`
  if (!sockets.open.has(first)) return first
  let number = 2
  while (sockets.open.has(`${first}:${number}`)) number++
  return `${first}:${number}`
}

function send(sockets: Sockets, from: Socket, to: string, bytes: Uint8Array): void {
  const { ground } = sockets
  const { counters } = ground
  const { name } = from.machine
  if (bytes.length > DATAGRAM_MAX) {
    counters.oversize++
    return note(ground, name, `${bytes.length} B are too many for a datagram: dropped`)
  }
  counters.sent++
  sent(ground, bytes)
  const target = targetOf(sockets, to)
  if (!target) {
    counters.refused++
    return note(ground, name, `-> ${to}: there is no such node`)
  }
  const what = content(ground, bytes)
  if (paths.isCut(sockets.paths, name, target.name)) {
    counters.blocked++
    return note(ground, name, () => `-> ${target.name}  ${what}: cut off`)
  }
  const delays = paths.fateOf(ground, sockets.paths, name, target.name)
  if (delays.length === 0) counters.lost++
  if (delays.length > 1) counters.duplicated++
  note(ground, name, () => `-> ${target.name}  ${what}: ${fateInWords(delays)}`)
  for (const delay of delays) {
    const copy = bytes.slice()
    const arrive = (): void => arriveAt(sockets, from, to, target, copy)
    const { timeline: line } = ground
    timeline.add(line, line.now + delay, arrive, target, timeline.ANY_LIFE, 'datagram')
  }
}

function targetOf(sockets: Sockets, to: string): Machine | undefined {
  const known = sockets.targets.get(to)
  if (known) return known
  const target = sockets.machines.get(to.split(':')[1] ?? '')
  if (target) sockets.targets.set(to, target)
  return target
}

function fateInWords(delays: readonly Millis[]): string {
  if (delays.length === 0) return 'lost'
  return delays.map((delay) => `${delay.toFixed(3)} ms`).join(' and ')
}

function arriveAt(
  sockets: Sockets,
  from: Socket,
  to: string,
  target: Machine,
  bytes: Uint8Array,
): void {
  const { ground } = sockets
  const { counters } = ground
  const { name } = from.machine
  if (!target.powered || paths.isCut(sockets.paths, name, target.name)) {
    counters.blocked++
    return note(ground, target.name, () => `<- ${name}  ${bytes.length} B: does not get there`)
  }
  const socket = sockets.open.get(to)
  if (!socket) {
    counters.refused++
    note(ground, target.name, () => `<- ${name}  ${bytes.length} B: nobody listens`)
    return bounce(sockets, from, to, target)
  }
  counters.received++
  note(ground, target.name, () => `<- ${name}  ${bytes.length} B`)
  socket.events.datagram(from.address, bytes)
  bytes.fill(SCRIBBLE)
}

/** The target's operating system reports that nobody listens there; that may be lost too. */
function bounce(sockets: Sockets, from: Socket, to: string, target: Machine): void {
  const { ground } = sockets
  const { machine, life, address } = from
  if (paths.isCut(sockets.paths, target.name, machine.name)) return
  const [delay] = paths.fateOf(ground, sockets.paths, target.name, machine.name)
  if (delay === undefined) return
  const report = (): void => {
    if (sockets.open.get(address) !== from) return
    note(ground, machine.name, `is told that nobody listens at ${to}`)
    from.events.refused(to)
  }
  timeline.add(ground.timeline, ground.timeline.now + delay, report, machine, life)
}
