/** A window that counts moves, by WebRTC where it can. */

import { action, join, type Session } from 'holdfast'

const move = action('move', (table, _args: object, by) => {
  const key = `moves.${by.player}`
  const moves = ((table.get(key) as number | undefined) ?? 0) + 1
  table.set(key, moves)
  return moves
})

const page = globalThis as unknown as {
  enter: (name: string, keepRoom: boolean) => Promise<void>
  move: () => Promise<unknown>
  leave: () => void
  seen: () => Record<string, unknown>
}
let session: Session

page.enter = async (name, keepRoom) => {
  const kept = keepRoom ? {} : ({ keepRoom: false } as const)
  session = await join({
    game: 'moves',
    room: `kept ${keepRoom}`,
    name,
    types: [move],
    webrtc: true,
    ...kept,
  })
}
page.move = () => session.act(move, {})
page.leave = () => void session.leave()
page.seen = () => {
  const { path, epoch, role } = session.debug.figures()
  const moves = session.table.keys('moves.').map((key) => session.table.get(key) as number)
  const members = session.members.length
  const kinds = session.paths().map(({ kind }) => kind)
  const { status, safety } = session
  return { path, kinds, epoch, role, members, moves, status, safety }
}
