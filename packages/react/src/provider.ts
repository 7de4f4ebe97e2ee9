/** The session that the hooks below a provider use. */

import { createContext, createElement, type ReactNode, useContext } from 'react'
import type { Session } from '../../holdfast/src/index.ts'
import { type Room, type RoomOptions, useRoom } from './room.ts'

const Context = createContext<Session | null>(null)

/** Properties of `RoomProvider`: the options of `useRoom`, and what to render without a session. */
export interface RoomProviderProps extends RoomOptions {
  /** What to render instead of the children while there is no session. Default: nothing. */
  fallback?: ReactNode | ((room: Room) => ReactNode)
  /** What to render with a session. */
  children?: ReactNode
}

/**
 * Joins a room, as `useRoom`, and renders its children once there is a session, which all hooks
 * below use. The children stay while the session reconnects and when it is lost: see `useStatus`.
 */
export function RoomProvider({ fallback, children, ...options }: RoomProviderProps): ReactNode {
  const room = useRoom(options)
  if (room.session) return createElement(Context.Provider, { value: room.session }, children)
  return typeof fallback === 'function' ? fallback(room) : fallback
}

/** Properties of `SessionProvider`. */
export interface SessionProviderProps {
  /** A session that was joined elsewhere. */
  session: Session
  /** What uses it. */
  children?: ReactNode
}

/** Lets the hooks below use a session that you joined yourself: on a server, or in a test. */
export function SessionProvider({ session, children }: SessionProviderProps): ReactNode {
  return createElement(Context.Provider, { value: session }, children)
}

/** The session of the provider above. @throws Error if there is none */
export function useSession(): Session {
  const session = useContext(Context)
  if (session) return session
  throw new Error('useSession and the hooks that read a session work below a RoomProvider')
}
