/**
 * Seeded tables of cards among people who stay away for long: three to six players grab, force-grab
 * and turn cards, and run actions, some of which draw random numbers and then throw. Players stall
 * or are cut off for half a second to three minutes; some are killed and return by their tokens;
 * the primary, the backup or both die. A player whom an action keeps is the same one after any
 * absence. After the faults each update and action has had one outcome, what was acknowledged
 * exists, no draw was published twice, all agree, and each hold that its player did not end was
 * reported to them once.
 */

import { keeps } from '../packages/holdfast/src/actions/protocol/reserved-rows.ts'
import { type Actions, ACTIONS_CHANNEL } from '../packages/holdfast/src/actions/protocol/actions.ts'
import { joinIn } from '../packages/holdfast/src/join/join.ts'
import type { InternalSession as Session } from '../packages/holdfast/src/join/session-impl.ts'
import * as prng from '../packages/holdfast/src/faults/prng.ts'
import type { Prng } from '../packages/holdfast/src/faults/prng.ts'
import type { Millis } from '../packages/holdfast/src/machine.ts'
import { serves } from '../packages/holdfast/src/session/state.ts'
import type { SimNode } from '../packages/sim/src/world.ts'
import { bareFaces, Card, cardsOf, createHand, deal, type Hand } from './workloads/pieces.ts'
import { playCards, unsettledCards, wrongTurns } from './workloads/pieces.ts'
import { type Annals, createAnnals, type Holds, watchHolds, wrongHolds } from './holds.ts'
import {
  ask,
  createPlays,
  randomPlay,
  repeatedDraws,
  play,
  type Plays,
  wrongPlays,
} from './workloads/actions.ts'
import {
  environmentOf,
  HUB_URL,
  type SessionWorld,
  world,
} from '../packages/sim/src/session-world.ts'

/** What a run showed. */
export interface TabletopReport {
  seed: number
  what: string
  /** Claims that did not hold; none is well. */
  faults: string[]
  actions: number
  thrown: number
  draws: number
  /** Holds that were told to be lost, by the reason. */
  lost: Holds['told']
  /** Players that came back in another process as who they were. */
  back: number
  /** In the end they are in more than one session. */
  split: boolean
  virtualMs: Millis
}

// One life of a process.
interface Life {
  readonly name: string
  readonly node: SimNode
  session: Session | null
  holds: Holds | null
  readonly hand: Hand
  readonly plays: Plays
  home: string
  player: number
  /** Sessions that were recovered while it was in them. */
  readonly recovered: Set<string>
  /** It was told that a recovery lost something of its own. */
  robbed: boolean
  /** It came back as another player, and has yet what it saw as the one before. */
  anew: boolean
  failed: boolean
}

// A person, who may sit at one process after the other.
interface Seat {
  readonly name: string
  readonly kind: 'node' | 'browser'
  readonly lives: Life[]
  readonly isKept: boolean
  /** Comes back then, if its process is dead; Infinity for not yet. */
  backAt: Millis
}

interface Run {
  readonly w: SessionWorld
  readonly chance: Prng
  readonly topology: 'star' | 'mesh'
  readonly cards: number
  readonly annals: Annals
  readonly seats: Seat[]
  readonly faults: Set<string>
  back: number
  /** Somebody stands still, is cut off or is dead until then. */
  awayUntil: Millis
  /**
   * Machines may die without a word. The hub of a world pings no streams, so whoever is left must
   * see to that: not where others die besides.
   */
  mayVanish: boolean
}

const NAMES = ['Ada', 'Grace', 'Linus', 'Edsger', 'Barbara', 'Donald']
const STORM_MS: Millis = 12_000
const STEP_MS: Millis = 100
const SHORTEST_MS: Millis = 500
const LONGEST_MS: Millis = 180_000
const AGAIN_MS: Millis = 2_000
const BACK_MS: Millis = 60_000
const CALM_MS: Millis = 60_000
// After so much time of calm nothing is under way any more.
const REST_MS: Millis = 1_000

/** Runs one seed. */
export async function runTabletop(seed: number): Promise<TabletopReport> {
  const chance = prng.create(`tabletop ${seed}`)
  const count = 3 + prng.below(chance, 4)
  const topology = prng.chance(chance, 0.3) ? 'mesh' : 'star'
  const loss = prng.chance(chance, 0.5) ? 0 : prng.below(chance, 8)
  const [rtt, jitter] = [10 + prng.below(chance, 80), prng.below(chance, 40)]
  const conditions = `rtt=${rtt},jitter=${jitter},loss=${loss}%`
  const w = world({ seed, conditions, linesMax: 0 })
  const cards = 2 + prng.below(chance, 6)
  const seats = NAMES.slice(0, count).map((name): Seat => {
    const kind = prng.chance(chance, 0.7) ? 'node' : 'browser'
    return { name, kind, lives: [], isKept: prng.chance(chance, 0.5), backAt: Infinity }
  })
  const run: Run = {
    ...{ w, chance, topology, cards, annals: createAnnals(), seats },
    ...{ faults: new Set<string>(), back: 0, awayUntil: 0, mayVanish: false },
  }
  for (const seat of seats) {
    sit(run, seat)
    await w.runUntil(() => isIn(seat), 20_000)
  }
  await w.run(1_000)
  const says = await storm(run)
  await calm(run)
  const kept = seats.filter(({ isKept }) => isKept).map(({ name }) => name)
  const who = `${count} in a ${topology}, kept ${kept.join(' ') || 'nobody'}`
  return reportOf(run, seed, `${who}, ${conditions}, ${says}`)
}

const isIn = (seat: Seat): boolean => present(seat) !== null

function present({ lives }: Seat): (Life & { session: Session }) | null {
  const life = lives.at(-1)
  if (!life?.session || !life.node.alive() || life.session.status === 'lost') return null
  return life as Life & { session: Session }
}

function sit(run: Run, seat: Seat): void {
  const { w, topology } = run
  const name = `${seat.name}.${seat.lives.length + 1}`
  const node = w.sim.node(name)
  const before = seat.lives.findLast((life) => life.session !== null) ?? null
  const life: Life = {
    ...{ name, node, session: null, holds: null, hand: createHand(), plays: createPlays() },
    ...{ home: '', player: 0, recovered: new Set(), robbed: false, anew: false, failed: false },
  }
  seat.lives.push(life)
  seat.backAt = Infinity
  const report = (error: unknown, where: string): void => {
    run.faults.add(`odd: ${name} reported at ${where}: ${String(error)}`)
  }
  const wish = { game: 'tabletop', name: seat.name, topology, server: HUB_URL }
  const token = before?.session?.token
  joinIn(environmentOf(node, seat.kind, report), {
    ...{ ...wish, types: [Card, deal, play] },
    ...(token === undefined ? {} : { token }),
  }).then(
    (session) => {
      if (node.alive()) begin(run, seat, life, session, before)
    },
    () => {
      life.failed = true
      seat.backAt = w.now() + AGAIN_MS
    },
  )
}

function begin(run: Run, seat: Seat, life: Life, session: Session, before: Life | null): void {
  life.session = session
  life.holds = watchHolds(run.annals, session)
  settleIn(life)
  // Whoever recovers while it comes in is told of that before it can listen.
  const own = session.member!.session
  if (serves(own) && own.server.epoch > 1) life.recovered.add(life.home)
  if (before) returned(run, seat, life, before.home, before.player)
  session.on('recovered', () => void life.recovered.add(life.home))
  session.on('healed', ({ same, lost }) => {
    life.robbed ||= lost > 0 || !same
    life.anew ||= !same
    const { home, player } = life
    settleIn(life)
    if (!same) returned(run, seat, life, home, player)
  })
  if (!seat.isKept) return
  const wish = { does: 'keep', at: 0, draws: 0, throws: false } as const
  ask(life.plays, session, life.name, wish, () => life.node.alive())
}

function settleIn(life: Life): void {
  life.home = life.session!.member!.session.id
  life.player = life.session!.me.player
}

// kept: whom the table of whoever serves keeps is the same player.
function returned(run: Run, seat: Seat, life: Life, home: string, player: number): void {
  if (life.home !== home) return
  if (life.player === player) return void run.back++
  const isKept = run.seats.some((other) => {
    const there = present(other)
    const own = there?.session.member?.session
    if (!own || own.id !== home || !serves(own)) return false
    const slot = there!.session.member!.mounts.find(({ part }) => part.channel === ACTIONS_CHANNEL)
    return keeps((slot!.state as Actions).committed, player)
  })
  if (!isKept) return
  run.faults.add(`kept: ${seat.name} was ${player}, whom the table keeps, and is ${life.player}`)
}

interface Blow {
  readonly at: Millis
  readonly says: string
  does(): void
}

// Mostly short ones, and some of all lengths.
function span(chance: Prng): Millis {
  return Math.round(SHORTEST_MS * (LONGEST_MS / SHORTEST_MS) ** prng.next(chance))
}

function plan(run: Run): Blow[] {
  const { w, chance, seats } = run
  const at = (): Millis => w.now() + prng.below(chance, STORM_MS)
  const blows: Blow[] = []
  for (let count = 1 + prng.below(chance, 2); count > 0; count--) {
    const seat = prng.pick(chance, seats)
    const kind = prng.pick(chance, ['stands still', 'is cut off', 'dies'] as const)
    const ms = span(chance)
    blows.push({
      at: at(),
      says: `${seat.name} ${kind} for ${ms}`,
      does: () => befall(run, seat, kind, ms),
    })
  }
  const heads = prng.pick(chance, ['nobody', 'server', 'backup', 'both'] as const)
  const deaths = blows.filter(({ says }) => says.includes(' dies ')).length
  run.mayVanish = deaths + (heads === 'nobody' ? 0 : 1) === 1
  if (heads === 'nobody') return blows
  const silent = prng.chance(chance, 0.5)
  const ms = span(chance)
  const does = (): void => behead(run, heads, silent, ms)
  blows.push({ at: at(), says: `${heads} ${silent ? 'vanish' : 'die'} for ${ms}`, does })
  return blows
}

function befall(
  run: Run,
  seat: Seat,
  kind: 'stands still' | 'is cut off' | 'dies',
  ms: Millis,
): void {
  const { w } = run
  const name = present(seat)?.node.name
  if (name === undefined) return
  run.awayUntil = Math.max(run.awayUntil, w.now() + ms)
  if (kind === 'stands still') return w.stall(name, ms)
  if (kind === 'dies') return kill(run, seat, prng.chance(run.chance, 0.5), ms)
  const mend = w.partition([[name]])
  w.at(w.now() + ms, () => mend())
}

function kill({ w, mayVanish }: Run, seat: Seat, silent: boolean, ms: Millis): void {
  const life = present(seat)
  if (!life) return
  w.sim.crash(life.node.name, { silent: silent && mayVanish })
  seat.backAt = w.now() + ms
}

function behead(run: Run, which: 'server' | 'backup' | 'both', silent: boolean, ms: Millis): void {
  const roles = { server: ['backedup', 'alone'], backup: ['backup'] }
  const wanted = which === 'both' ? [...roles.server, ...roles.backup] : roles[which]
  const heads = run.seats.filter((seat) => {
    const role = present(seat)?.session.member?.session.server.role
    return role !== undefined && wanted.includes(role)
  })
  for (const seat of heads) kill(run, seat, silent, ms)
}

async function storm(run: Run): Promise<string> {
  const { w } = run
  const blows = plan(run)
  for (const blow of blows) w.at(blow.at, () => blow.does())
  const end = w.now() + STORM_MS
  const longest = end + LONGEST_MS + BACK_MS
  while (w.now() < end) await step(run, 1)
  // Who stays on plays on, at leisure, until all are back.
  const away = (): boolean => {
    return w.now() < run.awayUntil || unsettled(run).some((fault) => fault.endsWith('is not in'))
  }
  while (away() && w.now() < longest) await step(run, 0.03)
  for (let left = 20; left > 0; left--) await step(run, 1)
  const from = end - STORM_MS
  return blows.map(({ at, says }) => `${says} at ${Math.round(at - from)}`).join(', ')
}

async function step(run: Run, zeal: number): Promise<void> {
  const { w, seats, chance } = run
  for (const seat of seats) {
    const life = present(seat)
    const last = seat.lives.at(-1)
    const isLost = last?.session?.status === 'lost' && last.node.alive()
    // Whose session is lost starts again, as a page does that is loaded anew.
    if (isLost && seat.backAt === Infinity) seat.backAt = w.now() + AGAIN_MS
    if (!life && w.now() >= seat.backAt) sit(run, seat)
    if (life && prng.chance(chance, zeal)) act(run, life)
  }
  await w.run(STEP_MS)
}

function act(run: Run, life: Life & { session: Session }): void {
  const { chance, cards, faults } = run
  const { session, node, hand, plays, name } = life
  const alive = (): boolean => node.alive()
  if (prng.chance(chance, 0.4)) playCards(hand, session, cards, chance, alive)
  if (prng.chance(chance, 0.25)) ask(plays, session, name, randomPlay(chance), alive)
  if (!life.anew) for (const fault of bareFaces(session)) faults.add(fault)
}

async function calm(run: Run): Promise<void> {
  const { w, faults, seats } = run
  w.heal()
  const isDone = (): boolean => unsettled(run).length === 0
  let since = Infinity
  const became = await w.runUntil(() => {
    if (!isDone()) since = Infinity
    else if (since === Infinity) since = w.now()
    return w.now() >= since + REST_MS
  }, CALM_MS)
  if (!became) for (const fault of unsettled(run)) faults.add(fault)
  for (const seat of seats) for (const fault of wrong(run, seat)) faults.add(fault)
  const plays = seats.flatMap(({ lives }) => lives.map((life) => life.plays))
  for (const fault of repeatedDraws(plays)) faults.add(fault)
}

// converge, told: what is under way still, or not the same for all of a session. Where all who
// serve are gone at once the others may go on in two (T43).
function unsettled({ seats }: Run): string[] {
  const here = seats.map((seat) => present(seat))
  const out = seats.filter((_seat, at) => here[at]?.session.status !== 'live')
  if (out.length > 0) return out.map(({ name }) => `converge: ${name} is not in`)
  const lives = here as (Life & { session: Session })[]
  const views = [...new Set(lives.map(({ session }) => viewOf(session)))]
  if (views.length > homesOf(lives)) return [`converge: ${views.join(' | ')}`]
  return lives.flatMap(({ name, session, hand, plays }) => {
    const players = session.members.map(({ player }) => player)
    const open = plays.waiting > 0 ? [`told: ${plays.waiting} actions have no outcome`] : []
    return [...unsettledCards(session, hand, players), ...open].map((fault) => `${fault} (${name})`)
  })
}

function homesOf(lives: readonly (Life & { session: Session })[]): number {
  return new Set(lives.map(({ session }) => session.member?.session.id)).size
}

function viewOf(session: Session): string {
  const rows = session.table.keys().map((key) => `${key}=${String(session.table.get(key))}`)
  return [session.member?.session.id, ...cardsOf(session), ...rows].join('; ')
}

function wrong(run: Run, seat: Seat): string[] {
  const life = present(seat)
  if (!life) return []
  const { session, home } = life
  const lives = run.seats.flatMap((other) => other.lives)
  const wasRecovered = lives.some(({ recovered }) => recovered.has(home))
  // What was told to who is left stands over a recovery, too.
  const left = lives.filter((one) => !wasRecovered || (one.node.alive() && !one.robbed))
  const all = lives.map(({ hand }) => hand)
  const steady = left.map(({ hand }) => hand)
  const isKept = (fault: string): boolean => fault.startsWith('commit.kept')
  return [
    ...(life.holds ? wrongHolds(life.holds, life.name) : []),
    ...wrongTurns(session, all, wasRecovered),
    ...wrongTurns(session, steady, false).filter(isKept),
    ...lives.flatMap((one) => wrongPlays(session, one.plays, left.includes(one))),
  ]
}

function reportOf({ seats, faults, back, w }: Run, seed: number, what: string): TabletopReport {
  const lives = seats.flatMap((seat) => seat.lives)
  const sum = (of: (life: Life) => number): number => lives.reduce((n, life) => n + of(life), 0)
  const told = (why: keyof Holds['told']): number => sum(({ holds }) => holds?.told[why] ?? 0)
  return {
    seed,
    what,
    faults: [...faults],
    actions: sum(({ plays }) => plays.asked),
    thrown: sum(({ plays }) => plays.thrown),
    draws: sum(({ plays }) => plays.draws.length),
    lost: { taken: told('taken'), away: told('away'), gone: told('gone') },
    back,
    split: homesOf(seats.flatMap((seat) => present(seat) ?? [])) > 1,
    virtualMs: w.now(),
  }
}
