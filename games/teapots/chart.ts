/**
 * The age of data by stage, as the first paper on this game drew it (figure 20): how old what
 * others do is when it is sent, served and shown here. Its authors measured 300 ms on screen.
 */

import uPlot from 'uplot'
import { type Ages, linesOf, SPAN, STAGE_WORDS } from './stages.ts'

/** What the authors of the game measured on screen, in ms. */
export const SOURCE_MS = 300
/** A chart that is drawn into an element. */
export class Chart {
  readonly #plot: uPlot
  readonly #observer: ResizeObserver

  constructor(into: HTMLElement) {
    this.#plot = new uPlot(optionsFor(into), [[], ...STAGE_WORDS.map(() => [])], into)
    this.#observer = new ResizeObserver(() => this.#plot.setSize(sizeOf(into)))
    this.#observer.observe(into)
  }

  /** Draws these ages. @param now  session time in ms */
  show(ages: Ages, now: number): void {
    this.#plot.setData(uPlot.join(linesOf(ages, now) as uPlot.AlignedData[]))
  }

  /** Takes it away. */
  destroy(): void {
    this.#observer.disconnect()
    this.#plot.destroy()
  }
}

function sizeOf(into: HTMLElement): { width: number; height: number } {
  return { width: Math.max(120, into.clientWidth), height: 190 }
}

function optionsFor(into: HTMLElement): uPlot.Options {
  return {
    ...sizeOf(into),
    legend: { show: false },
    cursor: { show: false },
    scales: {
      x: { time: false, range: [-SPAN, 0] },
      y: { range: (_plot, _min, max) => [0, Math.max(SOURCE_MS + 40, (max ?? 0) * 1.1)] },
    },
    axes: [axis((x) => `${x} s`), { ...axis(String), size: 44 }],
    series: [
      {},
      ...STAGE_WORDS.map(([, label, stroke]) => ({
        label,
        stroke,
        width: 1.6,
        spanGaps: true,
        points: { show: false },
      })),
    ],
    hooks: { draw: [drawSource] },
  }
}

function axis(word: (tick: number) => string): uPlot.Axis {
  const grid = { stroke: 'rgb(255 240 220 / 0.09)', width: 1 }
  const font = '11px system-ui, sans-serif'
  const values = (_plot: uPlot, ticks: number[]): string[] => ticks.map(word)
  return { stroke: '#b8a48f', grid, ticks: grid, font, values }
}

// The line of the source: what was good enough for a duel in 2001.
function drawSource(plot: uPlot): void {
  const { ctx, bbox } = plot
  const y = plot.valToPos(SOURCE_MS, 'y', true)
  ctx.save()
  ctx.strokeStyle = 'rgb(255 255 255 / 0.55)'
  ctx.setLineDash([5, 5])
  ctx.beginPath()
  ctx.moveTo(bbox.left, y)
  ctx.lineTo(bbox.left + bbox.width, y)
  ctx.stroke()
  ctx.fillStyle = 'rgb(255 255 255 / 0.7)'
  ctx.font = `${11 * devicePixelRatio}px system-ui, sans-serif`
  ctx.textAlign = 'left'
  ctx.textBaseline = 'bottom'
  ctx.fillText('300 ms: the source, 2001', bbox.left + 6, y - 5)
  ctx.restore()
}
