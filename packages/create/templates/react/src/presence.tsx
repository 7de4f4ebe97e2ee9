import { useEffect, useRef, useState } from 'react'
import type { MemberInfo, Session } from 'holdfast'
import { useAll, useMembers, useSession, useStatus } from 'holdfast/react'
import { Editing } from './board.ts'

/** Shows who is here, who serves, and who would take over. */
export function Presence() {
  const { status, reason, hub, primary, backup, retry } = useStatus()
  const session = useSession()
  const { me } = session
  const members = useMembers()
  const news = useNews(members)
  // After a reload this is the same player, who edits nothing yet.
  useEffect(() => edit(session, ''), [session])
  if (status === 'lost') {
    return (
      <p id="status" className="bad" role="alert">
        {reason} <button onClick={retry}>Join again</button>
      </p>
    )
  }
  const isWell = status === 'live' && hub === 'up'
  const nameOf = (member: MemberInfo | null): string =>
    member?.inc === me.inc ? 'this window' : (member?.name ?? 'nobody, open a second window')
  const roles = `Served by ${nameOf(primary)} · backup: ${nameOf(backup)}`
  return (
    <>
      <p id="status" className={isWell ? news && 'good' : 'bad'} role="status">
        {isWell ? news + roles : `The ${hub === 'up' ? 'server' : 'hub'} does not answer …`}
      </p>
      <ul className="here" aria-label="Who is here">
        {members.map(({ inc, name }) => (
          <li key={inc}>
            {name}
            {inc === me.inc && ' (you)'}
            {inc === primary?.inc && ' · serves'}
          </li>
        ))}
      </ul>
    </>
  )
}

/** Says in a sentence why another member serves now. */
function useNews(members: readonly MemberInfo[]): string {
  const { primary, backup } = useStatus()
  const before = useRef({ primary, backup })
  const [news, setNews] = useState('')
  useEffect(() => {
    const { primary: server, backup: next } = before.current
    before.current = { primary, backup }
    if (!server || !primary || server.inc === primary.inc) return
    // Only the backup had everything.
    const sure = next?.inc === primary.inc ? ', and nothing was lost' : ''
    const isHere = members.some(({ inc }) => inc === server.inc)
    setNews(isHere ? `${server.name} handed over. ` : `${server.name} is gone${sure}. `)
  }, [primary, backup, members])
  return news
}

/** Says to the others which note this person edits; empty for none. */
export function edit(session: Session, note: string): void {
  const own = session.all(Editing).find(({ mine }) => mine)
  if (own) own.set({ note })
  else if (session.status === 'live') session.create(Editing, { note })
}

/** Shows which other people edit a note. */
export function Editors({ note }: { note: string }) {
  const names = useAll(Editing, (all) => {
    const others = all.filter(({ mine, away, state }) => !mine && !away && state.note === note)
    return others.map(({ owner }) => owner?.name).join(', ')
  })
  return names !== '' && <small>Editing: {names}</small>
}
