/**
 * The age of data by stage, as the first paper on this game drew it (figure 20): how old what
 * others do is when it is sent, served and shown here. Its authors measured 300 ms on screen.
 */

import uPlot from 'uplot'
import type { Session } from 'holdfast'

type Ages = ReturnType<Session['ages']>
/** One stage of the way of an update. */
export type StageName = keyof Ages

/** The stages in the order of the way, with their words and colours. */
export const STAGE_WORDS: readonly [name: StageName, word: string, colour: string][] = [
  ['clientSend', 'sent by its owner', '#7cc4ff'],
  ['serverReceive', 'came to the server', '#6fd3a1'],
  ['serverSend', 'sent on by the server', '#e6c35c'],
  ['clientReceive', 'came here', '#f0925a'],
  ['shown', 'shown', '#f26d7d'],
]

/** What the authors of the game measured on screen, in ms. */
export const SOURCE_MS = 300
/** What is shown, in seconds. */
const SPAN = 15

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
    const from = now - SPAN * 1000
    const tables = STAGE_WORDS.map(([name]) => {
      const recent = ages[name].recent.filter(({ at }) => at > from && at <= now)
      // In order, for packets may come out of it.
      const sorted = recent.toSorted((a, b) => a.at - b.at)
      const unique = sorted.filter(({ at }, i) => i === 0 || at > sorted[i - 1]!.at)
      return [unique.map(({ at }) => (at - now) / 1000), unique.map(({ age }) => age)]
    })
    this.#plot.setData(uPlot.join(tables as uPlot.AlignedData[]))
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
