/** Names that the field's words replaced: one that comes back is a complaint. */

import { complain, walk } from './source.ts'
import type { Complaint, Source } from './source.ts'

/** Identifiers, and what each is called now. */
const NAMES: Readonly<Record<string, string>> = {
  Attendance: 'SessionExpiry',
  Burrow: 'MazeClient',
  census: 'resync',
  Cockpit: 'Controller',
  comeHome: 'checkPersistence',
  Conduct: 'Moderation',
  Crew: 'Cluster',
  crew: 'cluster',
  Gatherings: 'Collections',
  Greeter: 'Handshake',
  hasVoice: 'mayVote',
  homeless: 'toRecreate',
  lastHeard: 'lastReceived',
  layAside: 'replaceRoom',
  maySay: 'isAuthorized',
  mayTell: 'mayPublish',
  orphans: 'unowned',
  purse: 'bucket',
  Questions: 'PendingOperations',
  reign: 'term',
  Runner: 'MemberLoop',
  Shares: 'RelayQueue',
  sheet: 'segment',
  sheets: 'segments',
  takeSaid: 'receiveEntry',
  tellHub: 'sendToHub',
  tend: 'reconcile',
  untaken: 'storeFailed',
  watchAnew: 'restartDetector',
}

/** Stems of file names, and what each is called now. */
const FILES: Readonly<Record<string, string>> = {
  attendance: 'session-expiry',
  callers: 'join-responder',
  census: 'resync',
  crew: 'cluster',
  crowding: 'stream-limits',
  diary: 'trace',
  entrance: 'join-link',
  expelling: 'moderation',
  floors: 'layers',
  homecoming: 'persistence',
  inviting: 'invites',
  live: 'session-impl',
  orphans: 'unowned',
  prizes: 'workloads',
  runner: 'member-loop',
  sealing: 'link-keys',
  sheets: 'segments',
  steering: 'clock-sync',
  twists: 'mutants',
}

const OWN_PATH = 'tools/tidy/retired.ts'

/** Where a retired name stays in another sense. */
export const EXCEPTIONS: Readonly<Record<string, readonly string[]>> = {
  Conduct: ['test/standard/standard.test.ts'],
  runner: ['tools/mutants/runner.ts'],
  sheet: ['games/tabletop/play.ts', 'games/tabletop/sheets.tsx'],
  sheets: ['games/tabletop/sheets.tsx'],
}

/** Retired identifiers and file names. */
export function retired(source: Source): Complaint[] {
  const { path } = source
  if (path === OWN_PATH) return []
  const stem = path.split('/').at(-1)!.split('.')[0]!
  const isKnown = (name: string): boolean => EXCEPTIONS[name]?.includes(path) ?? false
  const complaints: Complaint[] = []
  if (Object.hasOwn(FILES, stem) && !isKnown(stem)) {
    complaints.push({ path, line: 0, what: `is called ${FILES[stem]} by now` })
  }
  walk(source.program, (node) => {
    if (node.type !== 'Identifier') return
    const { name, start } = node
    if (!Object.hasOwn(NAMES, name) || isKnown(name)) return
    complaints.push(complain(source, start, `${name} is called ${NAMES[name]} by now`))
  })
  return complaints
}
