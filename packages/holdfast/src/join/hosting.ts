/**
 * Hosts on Node; and their stores, if they keep their rooms themselves: one for each file, shared
 * in a process.
 */

import type { UdpOptions } from '../drivers/net/udp.ts'
import { nodeEnvironment } from '../drivers/node.ts'
import { openSqliteStore } from '../drivers/store/sqlite.ts'
import { badValue } from '../machine.ts'
import type { Store } from '../ports.ts'
import { OwnRooms } from '../runtime/own-rooms.ts'
import { shown } from '../wire/fields.ts'
import { joinIn, type JoinOptions } from './join.ts'
import type { Session } from './session.ts'

interface Open {
  readonly store: Store
  readonly rooms: OwnRooms
  users: number
}

const open = new Map<string, Open>()

/** The further options of `join` on Node. */
export type NodeJoinOptions = JoinOptions & {
  /** Where to listen for UDP from other Node members: 127.0.0.1, any port; null for none. */
  udp?: UdpOptions | null
}

/** The further options of `host`. */
export type HostOptions = NodeJoinOptions & {
  /** The file in which it keeps its rooms itself; the hub has digests. See docs/guide/rooms.md. */
  store?: string
}

/** Joins as a member that only serves and does not play; its name is `host` by default. */
export async function host(given: HostOptions): Promise<Session> {
  // Missing options are reported by the code that reads them.
  const { store, ...options } = (given as HostOptions | undefined) ?? ({} as HostOptions)
  const environment = nodeEnvironment(options.udp)
  const wish = { name: 'host', ...options }
  if (store === undefined) return joinIn(environment, wish)
  const known = use(store)
  try {
    const session = await joinIn({ ...environment, rooms: known.rooms }, wish)
    session.on('status', (status) => status === 'lost' && release(store, known))
    return session
  } catch (error) {
    release(store, known)
    throw error
  }
}

function use(file: unknown): Open {
  if (typeof file !== 'string' || file === '') {
    throw badValue(`store is the name of a file: ${shown(file)}`)
  }
  const known = open.get(file) ?? opened(file)
  known.users++
  return known
}

function opened(file: string): Open {
  const store = openSqliteStore(file)
  const made = { store, rooms: new OwnRooms(store), users: 0 }
  open.set(file, made)
  return made
}

// The last who goes closes the file, if nobody has come meanwhile.
function release(file: string, known: Open): void {
  known.users--
  known.rooms.whenIdle(() => {
    if (known.users > 0 || open.get(file) !== known) return
    open.delete(file)
    known.store.close()
  })
}
