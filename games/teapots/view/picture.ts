/**
 * The picture of a match: puts pots, cubes, sparks and labels where the session says they are,
 * and notices what happened since the last frame, to be seen and heard.
 */

import type { Session, Vec2 } from 'holdfast'
import type { Play } from '../play.ts'
import { placeAt, trace } from '../rules/flight.ts'
import { glazeOf } from '../rules/glazes.ts'
import { along, wayOf } from '../rules/plane.ts'
import * as rows from '../rules/standing.ts'
import { Pot } from '../rules/things.ts'
import type { Sound } from '../sound.ts'
import { type PotHandle, Views } from '../views.ts'
import { colourOf, playerOf, potOf } from '../whose.ts'
import { type CubeSight, Cubes } from './cubes.ts'
import { createGait, doze, type Gait, knock, poseOf, sway } from './gait.ts'
import type { Label, Labels } from './labels.ts'
import { type LumpLook, Lumps } from './lumps.ts'
import { type PotLook, Pots } from './pots.ts'
import { Sparks } from './sparks.ts'
import type { Stage } from './stage.ts'
import { addTray, type Tray } from './tray.ts'

/** How high over the cloth a label stands. */
const LABEL_HEIGHT = 3.2
/** A puddle grows for so long. */
const PUDDLE_MS = 900
/** How long before a pot can be hit its bell is lifted. */
const BELL_MS = 350
/** Where a pot stands that is only looked at. */
const SAMPLE: Vec2 = [2.6, 7.4]
/** After so long without a frame nobody looked. */
const AWAY_SECONDS = 1.5
/** How far one's own aim is dotted, in milliseconds of flight. */
const AIM_MS = 560

interface Seen {
  gait: Gait
  since: number
  tea: number
  look: PotLook
}

/** See the head of this file. */
export class Picture {
  readonly #stage: Stage
  readonly #labels: Labels
  readonly #sound: Sound
  readonly #tray: Tray
  readonly #pots: Pots
  readonly #lumps: Lumps
  readonly #cubes: Cubes
  readonly #sparks: Sparks
  readonly #views = new Views()
  #seen = new Map<number, Seen>()
  #air = new Map<string, CubeSight>()
  #blows = -1
  #round = 0
  #clock = 0
  readonly #calm = matchMedia('(prefers-reduced-motion: reduce)')

  constructor(stage: Stage, labels: Labels, sound: Sound) {
    this.#stage = stage
    this.#labels = labels
    this.#sound = sound
    this.#tray = addTray(stage.scene, stage.materials)
    this.#pots = new Pots(stage.scene, stage.materials)
    this.#lumps = new Lumps(stage.scene, stage.materials)
    this.#cubes = new Cubes(stage.scene, stage.materials)
    this.#sparks = new Sparks(stage.scene)
  }

  /**
   * Draws one frame.
   *
   * @param play  the match, or the glaze of a pot to be looked at
   * @param late  milliseconds since the last step of our own pot
   */
  draw(play: Play | number, ms: number, late: number): void {
    const seconds = ms / 1000
    this.#clock += seconds
    this.#tray.flicker(this.#clock)
    this.#sparks.most = this.#stage.sparks
    if (typeof play === 'number') this.#drawSample(play, seconds)
    else this.#drawPlay(play, seconds, late)
    this.#sparks.advance(seconds, this.#stage.pixels)
    this.#stage.draw(ms)
  }

  /** Forgets the session that was shown. */
  clear(): void {
    this.#seen.clear()
    this.#air.clear()
    this.#blows = -1
    this.#round = 0
    this.#labels.clear()
  }

  // Nobody plays: one pot turns on the table, to be looked at.
  #drawSample(glaze: number, seconds: number): void {
    const look: PotLook = {
      pos: SAMPLE,
      aim: 0.5 + 0.5 * this.#clock,
      glaze,
      pose: poseOf(true, 60_000),
      gait: createGait(),
      asleep: false,
      rattle: 0,
      bell: 0,
      puddle: 0,
    }
    this.#breathe({ streak: 0, player: 0 }, look)
    this.#pots.show([look])
    this.#cubes.show([], 0, () => {})
    this.#lumps.show([], seconds)
    this.#cubes.aim([])
    this.#labels.show([])
    this.#stage.lookClosely(SAMPLE, seconds)
  }

  #drawPlay(play: Play, seconds: number, late: number): void {
    const { session, seat } = play
    const now = session.now()
    this.#listen(play, now, seconds > AWAY_SECONDS)
    const next = new Map<number, Seen>()
    for (const pot of session.all(Pot)) {
      const player = playerOf(pot)
      const row = rows.standing(session.table, player, now)
      // Of a player who is back, what waited goes in a moment.
      if (!row || (pot.away && potOf(session, player))) continue
      next.set(player, this.#carry(play, pot, row, now, seconds, late))
    }
    this.#seen = next
    this.#pots.show([...next.values()].map(({ look }) => look))
    this.#drawLumps(play, seconds, late)
    this.#drawCubes(play, now)
    const own = next.get(session.me.player)
    this.#cubes.aim(seat && own && seat.stands ? this.#aimDots(own.look) : [])
    this.#stage.look(own?.look.pos ?? null, seconds)
    this.#labels.show([...this.#labelsOf(session, now), ...this.#sleepers(play)])
  }

  #carry(
    play: Play,
    pot: PotHandle,
    row: rows.Standing,
    now: number,
    seconds: number,
    late: number,
  ): Seen {
    const known = this.#seen.get(row.player)
    const gait = known?.gait ?? createGait()
    const body = pot === play.seat?.pot ? play.seat.body : this.#views.of(pot)
    const ahead = pot === play.seat?.pot ? late / 1000 : 0
    const stands = row.tea > 0
    const ago = now - row.since
    if (stands || ago < 1_500) sway(gait, body.vel, seconds)
    const look: PotLook = {
      pos: along(body.pos, body.vel, ahead),
      aim: body.aim + body.spin * ahead,
      glaze: pot.state.glaze,
      pose: pot.away && stands ? doze(this.#clock) : poseOf(stands, ago),
      gait,
      asleep: pot.away,
      rattle: pot.away ? 0 : this.#rattle(row, now),
      bell: stands && !pot.away ? bellOf(ago) : 0,
      puddle: stands ? 0 : Math.min(1, ago / PUDDLE_MS) ** 0.5,
    }
    if (stands && !pot.away) this.#breathe(row, look)
    const filled = stands && known && row.since !== known.since
    if (filled) this.#sound.pour(look.pos)
    return { gait, since: row.since, tea: row.tea, look }
  }

  #rattle({ tea, streak }: rows.Standing, now: number): number {
    if (tea === 0 || streak < rows.BOIL_STREAK) return 0
    return Math.max(0, Math.sin(now * 0.045)) * Math.max(0, Math.sin(now * 0.011)) * 0.16
  }

  // Steam from the spout: a wisp now and then, a plume on the boil.
  #breathe(
    { streak, player }: Pick<rows.Standing, 'streak' | 'player'>,
    { pos, aim, pose }: PotLook,
  ): void {
    const boils = streak >= rows.BOIL_STREAK
    if (pose.up > 0.2 || Math.random() > (boils ? 0.4 : 0.045)) return
    const tip = along(pos, wayOf(aim), 1.95)
    const drift = Math.sin(this.#clock + player) * 0.3
    this.#sparks.burst('steam', 1, [tip[0], 1.5, tip[1]], [drift, boils ? 1.6 : 0.8, 0.1], 0.3)
  }

  #drawLumps({ session, sugar }: Play, seconds: number, late: number): void {
    const looks = sugar.sights.map(({ handle, lump, here }): LumpLook => {
      const { pos, turn } = here
        ? {
            pos: along(lump.pos, lump.vel, late / 1000),
            turn: lump.turn + (lump.spin * late) / 1000,
          }
        : this.#views.ofLump(handle)
      const colour = colourOf(session, handle.away ? undefined : handle.owner?.player)
      return { id: handle.id, pos: [pos[0], pos[1]], turn, here, colour }
    })
    this.#lumps.show(looks, seconds)
  }

  #drawCubes(play: Play, now: number): void {
    const next = new Map<string, CubeSight>()
    const thrown = play.flights.at(now)
    this.#cubes.show(thrown, now, (id, sight) => {
      next.set(id, sight)
      this.#follow(this.#air.get(id), sight)
    })
    for (const [id, { pos, height }] of this.#air) {
      if (!next.has(id)) this.#sparks.burst('crumb', 9, [pos[0], height, pos[1]], [0, 3, 0], 5)
    }
    this.#air = next
  }

  #follow(before: CubeSight | undefined, { pos, height, bounces }: CubeSight): void {
    if (!before) return this.#sound.throw(pos)
    if (bounces > before.bounces) {
      this.#sound.clink(pos, bounces)
      this.#sparks.burst('crumb', 4, [pos[0], height, pos[1]], [0, 2, 0], 3)
    }
    if (Math.random() < 0.5) this.#sparks.burst('dust', 1, [pos[0], height, pos[1]], [0, 0, 0], 0.2)
  }

  #aimDots({ pos, aim }: PotLook): Vec2[] {
    const flight = trace({ pos, aim })
    const places: Vec2[] = []
    for (let ms = 95; ms < Math.min(AIM_MS, flight.ms); ms += 24) {
      places.push(placeAt(flight, ms).pos)
    }
    return places
  }

  // What the table says happened since the last frame.
  #listen(play: Play, now: number, away: boolean): void {
    const { session } = play
    const total = rows.hitsTotal(session.table)
    // What happened while nobody looked is not shown all at once.
    if (this.#blows < 0 || away) this.#blows = total
    for (const blow of rows.blowsAfter(session.table, this.#blows)) this.#strike(play, blow)
    this.#blows = Math.max(this.#blows, total)
    const round = rows.round(session.table)
    if (this.#round !== 0 && round.number > this.#round) this.#cheer(round.winner)
    if (round.number !== this.#round && rows.isCheering(round, now)) this.#cheer(round.winner)
    this.#round = round.number
  }

  #strike(play: Play, blow: rows.Blow): void {
    const seen = this.#seen.get(blow.victim)
    if (!seen) return
    const way = wayOf(blow.aim)
    knock(seen.gait, way)
    const [x, y] = seen.look.pos
    const drops = blow.tea === 0 ? 46 : 20
    this.#sparks.burst('tea', drops, [x, 1.2, y], [way[0] * 3.4, 6, way[1] * 3.4], 6)
    if (blow.tea === 0) {
      this.#sparks.burst('steam', 8, [x, 1, y], [0, 1, 0], 2.4)
      this.#sound.crash([x, y])
    } else this.#sound.splash([x, y])
    const mine = play.session.me.player
    const at = this.#stage.project(x, LABEL_HEIGHT + 0.6, y)
    this.#labels.rise(`+${blow.points}`, at, blow.by === mine ? 'ours' : '')
    if (blow.bounces > 0) {
      const text = blow.bounces > 1 ? 'double bank!' : 'bank shot!'
      this.#labels.rise(text, at && [at[0], at[1] - 26], blow.by === mine ? 'ours small' : 'small')
    }
    if (blow.victim === mine && !this.#calm.matches) this.#stage.shake(blow.tea === 0 ? 0.5 : 0.25)
  }

  #cheer(winner: number): void {
    const seen = this.#seen.get(winner)
    const [x, y] = seen?.look.pos ?? [0, 0]
    this.#sparks.burst('confetti', 70, [x, 2.5, y], [0, 11, 0], 11)
    this.#sparks.burst('confetti', 70, [0, 5, 0], [0, 12, 0], 16)
    this.#sound.fanfare()
  }

  // They wait for their players, who are on no list.
  #sleepers(play: Play): Label[] {
    return [...this.#seen].flatMap(([player, { look, tea }]) => {
      const { pos, glaze, asleep } = look
      if (!asleep) return []
      const at = this.#stage.project(pos[0], LABEL_HEIGHT, pos[1])
      const name = play.nameOf(player) ?? 'Somebody'
      const marks = { mine: false, boils: false, leads: false, role: 'away' as const }
      return { player, name, colour: glazeOf(glaze).colour, at, tea, ...marks }
    })
  }

  #labelsOf(session: Session, now: number): Label[] {
    const { me, primary, backup, members } = session
    const all = rows.standings(
      session.table,
      members.map(({ player }) => player),
      now,
    )
    const [first] = all
    return all.flatMap((row) => {
      const seen = this.#seen.get(row.player)
      const member = members.find(({ player }) => player === row.player)
      if (!seen || !member) return []
      const { pos, pose, glaze } = seen.look
      const role =
        member.inc === primary?.inc ? 'server' : member.inc === backup?.inc ? 'backup' : null
      return {
        player: row.player,
        name: member.name,
        colour: glazeOf(glaze).colour,
        at: pose.up > 1 ? null : this.#stage.project(pos[0], LABEL_HEIGHT, pos[1]),
        tea: row.tea,
        mine: row.player === me.player,
        boils: row.tea > 0 && row.streak >= rows.BOIL_STREAK,
        leads: row === first && row.points > 0,
        role,
      }
    })
  }
}

function bellOf(ago: number): number {
  if (ago > rows.SAFE_MS) return 0
  return Math.min(1, Math.max(0, (rows.SAFE_MS - ago) / BELL_MS))
}
