import type { Alarm, Loop } from '../../packages/holdfast/src/ports.ts'

/** A clock that stands still until it is told. */
export class Clock {
  now = 0
  #alarms: { at: number; run: () => void }[] = []
  #chance = 0

  readonly loop: Loop = {
    now: () => this.now,
    // Each draw is another one, and none is all zero.
    random: (count) => new Uint8Array(count).fill(1 + ((this.#chance += 51) % 254)),
    soon: (run) => queueMicrotask(run),
    alarm: (run) => this.#alarm(run),
  }

  #alarm(run: () => void): Alarm {
    const mine = { at: Infinity, run }
    this.#alarms.push(mine)
    return { set: (at) => void (mine.at = at), cancel: () => void (mine.at = Infinity) }
  }

  async to(instant: number): Promise<void> {
    for (;;) {
      // What was said arrives before time goes on.
      for (let i = 0; i < 200; i++) await Promise.resolve()
      const [next] = this.#alarms.toSorted((a, b) => a.at - b.at)
      if (!next || next.at > instant) break
      this.now = Math.max(this.now, next.at)
      next.at = Infinity
      next.run()
    }
    this.now = instant
  }
}
