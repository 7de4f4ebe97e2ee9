/** The canvases of a page: the view from the eye, and the map. They draw at every frame. */

import type { Controller } from './controller.ts'
import { paint } from './view/canvas.ts'
import { paintMap } from './view/map.ts'

/** See the head of this file. */
export class Screen {
  /** Who sits here; null for the maze as nobody sees it. */
  controller: Controller | null = null
  /** Called before each frame. */
  beforeFrame: (now: number) => void = () => {}
  /** Rats that are seen in the last picture, nearest first. */
  seen: readonly number[] = []
  /** Rats on the map of the last picture. */
  mapped: readonly number[] = []
  #eye: HTMLCanvasElement | null = null
  #map: HTMLCanvasElement | null = null

  constructor() {
    requestAnimationFrame((now) => this.#frame(now))
  }

  /** The canvas of the view, and that of the map; null while there is none. */
  readonly eye = (canvas: HTMLCanvasElement | null): void => void (this.#eye = canvas)
  /** See eye. */
  readonly map = (canvas: HTMLCanvasElement | null): void => void (this.#map = canvas)

  #frame(at: number): void {
    this.beforeFrame(at)
    this.#draw(at)
    requestAnimationFrame((now) => this.#frame(now))
  }

  #draw(now: number): void {
    const { controller } = this
    if (!controller) return
    const scene = controller.scene(now)
    const { maze, stage } = controller
    this.mapped = scene.mapped.filter(({ kind }) => kind === 'rat').map(({ rat }) => rat)
    const eye = this.#eye && penOf(this.#eye)
    if (eye) {
      const nameOf = (rat: number): string => maze.nameOf(rat)
      this.seen = paint(eye.pen, eye.width, eye.height, scene, nameOf)
    }
    const map = this.#map && penOf(this.#map)
    if (map) paintMap(map.pen, map.width, map.height, scene, stage.whose ?? maze.me)
  }
}

// A canvas has as many pixels as the display has there.
function penOf(
  canvas: HTMLCanvasElement,
): { pen: CanvasRenderingContext2D; width: number; height: number } | null {
  const ratio = Math.min(3, devicePixelRatio || 1)
  const { clientWidth: width, clientHeight: height } = canvas
  if (width === 0 || height === 0) return null
  const [wide, high] = [Math.round(width * ratio), Math.round(height * ratio)]
  if (canvas.width !== wide) canvas.width = wide
  if (canvas.height !== high) canvas.height = high
  const pen = canvas.getContext('2d')!
  pen.setTransform(ratio, 0, 0, ratio, 0, 0)
  return { pen, width, height }
}
