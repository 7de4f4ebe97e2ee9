/**
 * The roles of the server object and their transitions, as tables that the code consults and from
 * which docs/protocols/session.md is generated.
 *
 * R is the register, and it is authoritative: a request may be answered twice, late or never, but a
 * member that reads R knows its outcome. From the CAS that adds a backup until the register refuses
 * it, or answers the CAS that drops that backup, nothing is committed without the backup: either of
 * the two may be the primary meanwhile, and both hold what is committed.
 *
 * This is Vertical Paxos II with configurations of two and the hub as their master (Lamport,
 * Malkhi, Zhou, 2009): write to both, read from either, change through the master.
 */

export const TRAITS = {
  serves: 'takes operations and publishes the view',
  leads: 'answers the hub that it lives, and brings members up to date',
  asks: 'has a change of the register under way',
  follows: 'takes and acks the entries of its primary’s log',
  standsBy: 'holds the log of a primary, and may be named its backup',
  free: 'may take a snapshot, or ask to recover the session',
} as const

export type Trait = keyof typeof TRAITS

/**
 * The roles. IDLE, BACKUP, ACTIVE_ALONE and ACTIVE_BACKEDUP are those of T11; the others wait for
 * one answer each: `sync` for the register to name us, those with the trait `asks` for a
 * compare-and-set, `gathering` for the reports of the others.
 */
export const ROLES = {
  idle: ['free'],
  sync: ['free', 'follows', 'standsBy'],
  backup: ['follows', 'standsBy'],
  taking: ['asks', 'follows', 'standsBy'],
  alone: ['serves', 'leads'],
  adding: ['serves', 'leads', 'asks'],
  backedup: ['serves', 'leads'],
  dropping: ['serves', 'leads', 'asks'],
  handing: ['asks'],
  recovering: ['asks'],
  gathering: ['leads'],
} as const satisfies Readonly<Record<string, readonly Trait[]>>

export type Role = keyof typeof ROLES

export type RoleThat<Of extends Trait> = {
  [Name in Role]: Of extends (typeof ROLES)[Name][number] ? Name : never
}[Role]

export function isTrueOf(role: Role, trait: Trait): boolean {
  return (ROLES[role] as readonly Trait[]).includes(trait)
}

/** The transitions between roles. `e` is the epoch; `when` and `does` are for readers. */
export const TRANSITIONS = [
  {
    from: ['idle'],
    on: 'founded',
    to: 'alone',
    when: 'the hub has a new session for it',
    does: 'epoch 1, with itself as the only member',
  },
  {
    from: ['alone'],
    on: 'caughtUp',
    to: 'adding',
    when: 'a candidate holds the whole log',
    does: 'asks for R = (e+1, me, candidate)',
  },
  {
    from: ['adding'],
    on: 'added',
    to: 'backedup',
    when: 'R = (e+1, me, candidate)',
    does: 'epoch e+1; resends what is not acked',
  },
  {
    from: ['adding'],
    on: 'declined',
    to: 'alone',
    when: 'the register refuses it, because the candidate said goodbye',
    does: 'releases held output; asks another member',
  },
  {
    from: ['backedup'],
    on: 'fails',
    to: 'dropping',
    when: 'the backup is suspected, too slow or to be removed',
    does: 'asks for R = (e+1, me, nobody)',
  },
  {
    from: ['dropping'],
    on: 'dropped',
    to: 'alone',
    when: 'R = (e+1, me, nobody)',
    does: 'epoch e+1; releases held output',
  },
  {
    from: ['idle', 'sync'],
    on: 'restored',
    to: 'sync',
    when: 'a snapshot is complete',
    does: 'acks it',
  },
  {
    from: ['sync'],
    on: 'unrestored',
    to: 'idle',
    when: 'a part rejects its state in a later snapshot',
    does: 'drops all of it, and acks nothing',
  },
  {
    from: ['sync', 'taking'],
    on: 'named',
    to: 'backup',
    when: 'R names me as backup; or, in *sync*, the primary says so',
    does: 'restarts the detector',
  },
  {
    from: ['backup'],
    on: 'suspects',
    to: 'taking',
    when: 'the primary is suspected',
    does: 'asks for R = (e+1, me, nobody)',
  },
  {
    from: ['taking'],
    on: 'heard',
    to: 'backup',
    when: 'the primary is heard, and the register was not asked yet',
    does: 'withdraws the attempt',
  },
  {
    from: ['taking'],
    on: 'vetoed',
    to: 'backup',
    when: 'the hub says ALIVE: the primary answered it',
    does: 'restarts the detector with the longest bound; both try the relay',
  },
  {
    from: ['taking', 'backup', 'sync'],
    on: 'leads',
    to: 'alone',
    when: 'R = (e+1, me, nobody); or, in *backup*, STEP_DOWN: handed over',
    does: 'epoch e+1; sends the view to all members',
  },
  {
    from: ['backedup'],
    on: 'gives',
    to: 'handing',
    when: 'it leaves, freezes or stalls, and the backup holds the whole log',
    does: 'asks for R = (e+1, backup, nobody)',
  },
  {
    from: ['handing'],
    on: 'given',
    to: 'idle',
    when: 'R = (e+1, backup, nobody)',
    does: 'STEP_DOWN to the new primary; continues as its client',
  },
  {
    from: ['handing'],
    on: 'keeps',
    to: 'dropping',
    when: 'the register refuses it, because the backup said goodbye',
    does: 'serves again; asks for R = (e+1, me, nobody)',
  },
  {
    from: ['idle', 'sync'],
    on: 'lost',
    to: 'recovering',
    when: 'lost for 8 s, or 1 s if the hub lacks primary and backup, and the session allows it',
    does: 'asks for R = (e+1, me, nobody)',
  },
  {
    from: ['recovering'],
    on: 'refused',
    to: 'idle',
    when: 'the register does not allow it',
    does: 'asks again after a second',
  },
  {
    from: ['recovering'],
    on: 'recovers',
    to: 'gathering',
    when: 'R = (e+1, me, nobody)',
    does: 'epoch e+1; asks all members how much was published to them',
  },
  {
    from: ['gathering'],
    on: 'concludes',
    to: 'alone',
    when: 'all have answered, or 2 s are over',
    does: 'continues with the most advanced copy; RECOVERED to all',
  },
  {
    from: [
      ...(['sync', 'backup', 'taking', 'alone', 'adding', 'backedup', 'dropping'] as const),
      ...(['handing', 'recovering', 'gathering'] as const),
    ],
    on: 'deposed',
    to: 'idle',
    when: 'R names others',
    does: 'drops what was not published',
  },
] as const satisfies readonly {
  readonly from: readonly Role[]
  readonly on: string
  readonly to: Role
  readonly when: string
  readonly does: string
}[]

type Row = (typeof TRANSITIONS)[number]

export type Cause = Row['on']

/** The role to which a cause leads. */
export type RoleAfter<On extends Cause> = Extract<Row, { on: On }>['to']

const NEXT_ROLES: ReadonlyMap<string, Role> = new Map(
  TRANSITIONS.flatMap(({ from, on, to }) => from.map((role) => [`${role} ${on}`, to] as const)),
)

/** The next role, or null if the table has no such transition. */
export function roleAfter(role: Role, on: Cause): Role | null {
  return NEXT_ROLES.get(`${role} ${on}`) ?? null
}
