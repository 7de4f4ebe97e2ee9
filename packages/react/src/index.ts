/**
 * The entry point for React 18.3 and newer, and for Preact by its `preact/compat`.
 *
 *     <RoomProvider game="cards" types={[Card]} fallback="Joining …">
 *       <Cards />
 *     </RoomProvider>
 *
 *     const cards = useAll(Card)
 *
 * @module
 */

export { useAct, useAll, useMembers, useObject, usePiece, useStatus, useTable } from './hooks.ts'
export type { SessionStatus } from './hooks.ts'
export { type FieldProps, useField } from './field.ts'
export { RoomProvider, SessionProvider, useSession } from './provider.ts'
export type { RoomProviderProps, SessionProviderProps } from './provider.ts'
export { type Room, type RoomOptions, useRoom } from './room.ts'
