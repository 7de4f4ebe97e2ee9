/** Which part of the table is shown, how large, and from which side. */

import type { Vec2 } from 'holdfast'
import { type Region, TABLE } from '../rules/places.ts'

/** Pixels for a unit of the table. */
const ZOOM_MIN = 0.15
const ZOOM_MAX = 3.5
/** Space round what is fitted, in pixels. */
const MARGIN = 14

/** The part of the page that is free for the table, in pixels of the picture. */
export interface Frame {
  readonly width: number
  readonly height: number
  /** What lies over its upper and its lower edge. */
  readonly top: number
  readonly bottom: number
}

/** See the head of this file. */
export class Camera {
  /** The place of the table in the middle of the frame. */
  at: Vec2 = [TABLE[0] / 2, TABLE[1] / 2]
  zoom = 1
  /** Seen from the other side. */
  turned = false
  frame: Frame = { width: 800, height: 600, top: 0, bottom: 0 }
  /** Follows the frame until somebody takes it elsewhere. */
  isFitted = true

  get #middle(): Vec2 {
    const { width, height, top, bottom } = this.frame
    return [width / 2, top + (height - top - bottom) / 2]
  }

  get #sign(): number {
    return this.turned ? -this.zoom : this.zoom
  }

  /** Where a place of the table is shown. */
  toScreen([x, y]: Vec2): Vec2 {
    const [middleX, middleY] = this.#middle
    return [middleX + (x - this.at[0]) * this.#sign, middleY + (y - this.at[1]) * this.#sign]
  }

  /** The place of the table that is shown there. */
  toTable([x, y]: Vec2): Vec2 {
    const [middleX, middleY] = this.#middle
    return [this.at[0] + (x - middleX) / this.#sign, this.at[1] + (y - middleY) / this.#sign]
  }

  /** For an SVG group with things in units of the table. */
  get transform(): string {
    const [x, y] = this.toScreen([0, 0])
    return `translate(${x} ${y}) scale(${this.zoom})${this.turned ? ' rotate(180)' : ''}`
  }

  /** Shows a region as large as it fits. */
  fit({ from, to }: Region): void {
    const { width, height, top, bottom } = this.frame
    const across = (width - 2 * MARGIN) / (to[0] - from[0])
    const along = (height - top - bottom - 2 * MARGIN) / (to[1] - from[1])
    this.zoom = clamp(Math.min(across, along), ZOOM_MIN, ZOOM_MAX)
    this.at = [(from[0] + to[0]) / 2, (from[1] + to[1]) / 2]
    this.isFitted = true
  }

  /** Drags the table along, by pixels. */
  pan(x: number, y: number): void {
    const { at } = this
    this.at = [
      clamp(at[0] - x / this.#sign, 0, TABLE[0]),
      clamp(at[1] - y / this.#sign, 0, TABLE[1]),
    ]
    this.isFitted = false
  }

  /** Nearer or farther; the place shown there stays where it is. */
  zoomBy(factor: number, there: Vec2): void {
    const place = this.toTable(there)
    this.zoom = clamp(this.zoom * factor, ZOOM_MIN, ZOOM_MAX)
    const shown = this.toScreen(place)
    this.pan(there[0] - shown[0], there[1] - shown[1])
  }
}

function clamp(value: number, min: number, max: number): number {
  return Math.min(max, Math.max(min, value))
}
