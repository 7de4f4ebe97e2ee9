/** The session that the hooks below a provider use. */

import { createContext, createElement, type ReactNode, useContext, useMemo } from 'react'
import type { Session } from '../../holdfast/src/index.ts'
import { type Room, type RoomOptions, useRoom } from './room.ts'

/** What a provider gives: a session, and how to join again. */
export interface Provided {
  readonly session: Session
  readonly retry: () => void
}

const Context = createContext<Provided | null>(null)

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
  const { session, retry } = room
  const value = useMemo(() => session && { session, retry }, [session, retry])
  if (value) return createElement(Context.Provider, { value }, children)
  return typeof fallback === 'function'
    ? createElement(Fallback, { render: fallback, room })
    : fallback
}

// A component, so that what it renders may use hooks.
function Fallback({ render, room }: { render: (room: Room) => ReactNode; room: Room }): ReactNode {
  return render(room)
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
  const value = useMemo(() => ({ session, retry: () => {} }), [session])
  return createElement(Context.Provider, { value }, children)
}

/** The session of the provider above. @throws Error if there is none */
export function useSession(): Session {
  return useProvided().session
}

/** What the provider above gives. @throws Error if there is none */
export function useProvided(): Provided {
  const provided = useContext(Context)
  if (provided) return provided
  throw new Error('the hooks that read a session work below a RoomProvider or a SessionProvider')
}
