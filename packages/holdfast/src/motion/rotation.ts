/**
 * Orientations and turns, in rows of numbers. An orientation is a unit quaternion: x, y, z, w. A
 * turn is a vector of three numbers: its direction is the axis, its length the angle in radians.
 * Both are in world space, not in the object's.
 */

type Row = Float64Array | number[]

// Below this, an angle equals its sine.
const SMALL = 1e-9

/** Applies a turn to the orientation in `from`, and writes the result to `into` at `at`. */
export function turned(
  from: Row,
  fromAt: number,
  x: number,
  y: number,
  z: number,
  into: Row,
  at: number,
): void {
  const angle = Math.hypot(x, y, z)
  const share = angle < SMALL ? 0.5 : Math.sin(angle / 2) / angle
  const [a, b, c, d] = [x * share, y * share, z * share, Math.cos(angle / 2)]
  const fx = from[fromAt]!
  const fy = from[fromAt + 1]!
  const fz = from[fromAt + 2]!
  const fw = from[fromAt + 3]!
  into[at] = d * fx + a * fw + b * fz - c * fy
  into[at + 1] = d * fy - a * fz + b * fw + c * fx
  into[at + 2] = d * fz + a * fy - b * fx + c * fw
  into[at + 3] = d * fw - a * fx - b * fy - c * fz
}

/** The shortest turn between two orientations, for either sign of their quaternions. */
export function turnBetween(
  from: Row,
  fromAt: number,
  to: Row,
  toAt: number,
  into: Row,
  at: number,
): void {
  const [ax, ay, az, aw] = [to[toAt]!, to[toAt + 1]!, to[toAt + 2]!, to[toAt + 3]!]
  const fx = from[fromAt]!
  const fy = from[fromAt + 1]!
  const fz = from[fromAt + 2]!
  const fw = from[fromAt + 3]!
  const x = ax * fw - aw * fx - ay * fz + az * fy
  const y = ay * fw - aw * fy - az * fx + ax * fz
  const z = az * fw - aw * fz - ax * fy + ay * fx
  const w = aw * fw + ax * fx + ay * fy + az * fz
  const sine = Math.hypot(x, y, z)
  const half = Math.atan2(sine, Math.abs(w))
  const share = (sine < SMALL ? 2 : (2 * half) / sine) * (w < 0 ? -1 : 1)
  into[at] = x * share
  into[at + 1] = y * share
  into[at + 2] = z * share
}

/** Chooses the sign of the quaternion at `at` that is nearer to the one in `near`. */
export function keepNear(near: Row, nearAt: number, row: Row, at: number): void {
  let dot = 0
  for (let i = 0; i < 4; i++) dot += near[nearAt + i]! * row[at + i]!
  if (dot < 0) for (let i = 0; i < 4; i++) row[at + i] = -row[at + i]!
}
