/** What one hears, made by the page: silent until somebody touched it, and when muted. */

import { recall, remember } from '../recall.ts'
import type { Cue } from './controller.ts'

interface Tone {
  readonly pitch: number
  readonly to: number
  readonly lasts: number
  readonly power: number
  readonly shape: OscillatorType
}

const TONES: Readonly<Record<Cue, readonly Tone[]>> = {
  step: [{ pitch: 95, to: 70, lasts: 0.06, power: 0.18, shape: 'triangle' }],
  turn: [{ pitch: 240, to: 320, lasts: 0.05, power: 0.04, shape: 'triangle' }],
  fire: [
    { pitch: 980, to: 180, lasts: 0.22, power: 0.1, shape: 'sawtooth' },
    { pitch: 490, to: 90, lasts: 0.22, power: 0.1, shape: 'square' },
  ],
  empty: [{ pitch: 130, to: 110, lasts: 0.08, power: 0.08, shape: 'square' }],
  hit: [
    { pitch: 520, to: 1040, lasts: 0.18, power: 0.12, shape: 'square' },
    { pitch: 780, to: 1560, lasts: 0.26, power: 0.07, shape: 'triangle' },
  ],
  beHit: [
    { pitch: 320, to: 40, lasts: 0.6, power: 0.22, shape: 'sawtooth' },
    { pitch: 90, to: 30, lasts: 0.7, power: 0.25, shape: 'triangle' },
  ],
  cloak: [{ pitch: 700, to: 350, lasts: 0.3, power: 0.06, shape: 'sine' }],
  elsewhere: [{ pitch: 180, to: 60, lasts: 0.3, power: 0.05, shape: 'triangle' }],
}

/** See the head of this file. */
export class Sound {
  #context: AudioContext | null = null
  #muted = recall('mute') === '1'

  get muted(): boolean {
    return this.#muted
  }

  set muted(muted: boolean) {
    this.#muted = muted
    remember('mute', muted ? '1' : '')
  }

  /** Somebody touched the page: now there may be sound. */
  wake(): void {
    if (this.#context) return void this.#context.resume().catch(() => {})
    if (typeof AudioContext !== 'undefined') this.#context = new AudioContext()
  }

  /** Lets it be heard. */
  play(cue: Cue): void {
    if (this.#context && !this.#muted) for (const tone of TONES[cue]) sound(this.#context, tone)
  }
}

function sound(context: AudioContext, { pitch, to, lasts, power, shape }: Tone): void {
  const at = context.currentTime
  const voice = context.createOscillator()
  const gain = context.createGain()
  voice.type = shape
  voice.frequency.setValueAtTime(pitch, at)
  voice.frequency.exponentialRampToValueAtTime(to, at + lasts)
  gain.gain.setValueAtTime(power, at)
  gain.gain.exponentialRampToValueAtTime(0.0005, at + lasts)
  voice.connect(gain).connect(context.destination)
  voice.start(at)
  voice.stop(at + lasts)
}
