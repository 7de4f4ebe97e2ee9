/** One window's part in a session of Mazewar: its rat, its controller, what it has to say. */

import type { Session } from 'holdfast'
import { Player } from '../player.ts'
import { Controller } from './controller.ts'
import { Seat } from './seat.ts'

/** See the head of this file. It draws nothing; `changed` tells who does. */
export class Play extends Player {
  readonly seat: Seat
  readonly controller: Controller

  constructor(session: Session, watch: boolean, changed: () => void) {
    super(session, changed)
    this.seat = new Seat(session)
    this.seat.plays = !watch
    this.controller = new Controller(this.seat)
  }

  /** Goes into the maze, for who watched. */
  enter(): void {
    this.seat.plays = true
    this.controller.stage.whose = null
    this.changed()
  }
}
