/** Paths of a thing that flies, 240 steps a second, each from its seed. */

import { between, type Prng } from '../../packages/holdfast/src/faults/prng.ts'

/** Steps of a path in a second. */
export const STEPS = 240
const DT = 1 / STEPS
/** The box in which things bounce. */
export const BOX = 12

/** Where it is, and how fast, in the plane. */
export type Step = readonly [x: number, y: number, vx: number, vy: number]
/** Makes a path of so many seconds. */
type Path = (chance: Prng, seconds: number) => Step[]

const STRAIGHT_SPEED = 12
const TURNING_SPEED = 8
const BOUNCING_SPEED = 9

// Along one line: it speeds up, cruises and brakes as pilots do.
const straight: Path = (chance, seconds) => {
  const heading = between(chance, 0, 2 * Math.PI)
  const [ahead, aside] = [Math.cos(heading), Math.sin(heading)]
  let place = 0
  let speed = 0
  let left = 0
  let thrust = 0
  let brakes = false
  return steps(seconds, () => {
    left -= DT
    if (left <= 0) {
      left = between(chance, 0.5, 2)
      const kind = Math.floor(between(chance, 0, 3))
      brakes = kind === 2
      thrust = kind === 0 ? between(chance, 6, 12) * (between(chance, -1, 1) < 0 ? -1 : 1) : 0
    }
    if (brakes) thrust = -Math.sign(speed) * Math.min(8, Math.abs(speed) / DT)
    speed = Math.max(-STRAIGHT_SPEED, Math.min(STRAIGHT_SPEED, speed + thrust * DT))
    place += speed * DT
    return [place * ahead, place * aside, speed * ahead, speed * aside]
  })
}

// Round bends left and right, now wide and now narrow.
const turning: Path = (chance, seconds) => {
  let [x, y, heading, rate, wanted, left] = [0, 0, 0, 0, 0, 0]
  return steps(seconds, () => {
    left -= DT
    if (left <= 0) {
      left = between(chance, 0.4, 2)
      wanted = between(chance, -3.5, 3.5)
    }
    rate += Math.max(-12 * DT, Math.min(12 * DT, wanted - rate))
    heading += rate * DT
    const [vx, vy] = [TURNING_SPEED * Math.cos(heading), TURNING_SPEED * Math.sin(heading)]
    x += vx * DT
    y += vy * DT
    return [x, y, vx, vy]
  })
}

// Between four walls, which throw it back.
const bouncing: Path = (chance, seconds) => {
  const heading = between(chance, 0, 2 * Math.PI)
  let x = between(chance, 1, BOX - 1)
  let y = between(chance, 1, BOX - 1)
  let vx = BOUNCING_SPEED * Math.cos(heading)
  let vy = BOUNCING_SPEED * Math.sin(heading)
  return steps(seconds, () => {
    x += vx * DT
    y += vy * DT
    if (x < 0 || x > BOX) vx = -vx
    if (y < 0 || y > BOX) vy = -vy
    x = thrownBack(x)
    y = thrownBack(y)
    return [x, y, vx, vy]
  })
}

function thrownBack(place: number): number {
  return place < 0 ? -place : place > BOX ? 2 * BOX - place : place
}

function steps(seconds: number, next: () => Step): Step[] {
  return Array.from({ length: seconds * STEPS }, next)
}

/** All paths. */
export const PATHS = { straight, turning, bouncing } as const
/** One of them. */
export type PathName = keyof typeof PATHS
