/**
 * What one hears, made by the page itself: clinks, splashes, a crash of china, tea being poured.
 * It is silent until somebody has touched the page, as browsers want it, and when muted.
 */

import type { Vec2 } from 'holdfast'
import { recall, remember } from '../recall.ts'

/** Voices at once; more would only be noise. */
const VOICES_MAX = 24

/** See the head of this file. */
export class Sound {
  #context: AudioContext | null = null
  #out: GainNode | null = null
  #noise: AudioBuffer | null = null
  #voices = 0
  #muted = recall('mute') === '1'
  /** Where one listens from. */
  ear: Vec2 = [0, 0]

  get muted(): boolean {
    return this.#muted
  }

  set muted(muted: boolean) {
    this.#muted = muted
    if (this.#out) this.#out.gain.value = muted ? 0 : 0.5
    remember('mute', muted ? '1' : '')
  }

  /** Somebody touched the page: now there may be sound. */
  wake(): void {
    if (this.#context) return void this.#context.resume().catch(() => {})
    if (typeof AudioContext === 'undefined') return
    const context = new AudioContext()
    const out = context.createGain()
    const squeeze = context.createDynamicsCompressor()
    out.gain.value = this.#muted ? 0 : 0.5
    out.connect(squeeze).connect(context.destination)
    this.#context = context
    this.#out = out
    this.#noise = noiseOf(context)
  }

  /** A cube leaves its pot. */
  throw(at: Vec2): void {
    this.#tone(at, { pitch: 560, to: 980, lasts: 0.09, power: 0.16, shape: 'triangle' })
    this.#hiss(at, { pitch: 2600, lasts: 0.08, power: 0.12 })
  }

  /** A cube bounces off china or wood. */
  clink(at: Vec2, bounces: number): void {
    const pitch = 1750 + 230 * bounces + 160 * Math.random()
    this.#tone(at, { pitch, to: pitch, lasts: 0.22, power: 0.12, shape: 'sine' })
    this.#tone(at, {
      pitch: pitch * 2.71,
      to: pitch * 2.7,
      lasts: 0.13,
      power: 0.06,
      shape: 'sine',
    })
  }

  /** Tea is spilt. */
  splash(at: Vec2): void {
    this.#hiss(at, { pitch: 900, lasts: 0.32, power: 0.5 })
    this.#tone(at, { pitch: 300, to: 120, lasts: 0.16, power: 0.4, shape: 'sine' })
    this.clink(at, 0)
  }

  /** A pot topples. */
  crash(at: Vec2): void {
    this.splash(at)
    for (let i = 0; i < 7; i++) {
      const pitch = 900 + 2600 * Math.random()
      const after = i * 0.045 + 0.03 * Math.random()
      this.#tone(at, { pitch, to: pitch * 0.98, lasts: 0.3, power: 0.13, shape: 'sine', after })
    }
  }

  /** A pot is filled: the pitch rises as it does. */
  pour(at: Vec2): void {
    for (let i = 0; i < 9; i++) {
      const pitch = 300 + 55 * i + 60 * Math.random()
      this.#tone(at, {
        pitch,
        to: pitch * 1.5,
        lasts: 0.07,
        power: 0.1,
        shape: 'sine',
        after: i * 0.05,
      })
    }
    this.#hiss(at, { pitch: 1300, lasts: 0.5, power: 0.1 })
  }

  /** Somebody won the round. */
  fanfare(): void {
    const notes = [523, 659, 784, 1047, 784, 1047]
    notes.forEach((pitch, i) => {
      this.#tone(null, {
        pitch,
        to: pitch,
        lasts: 0.5,
        power: 0.2,
        shape: 'triangle',
        after: i * 0.13,
      })
    })
  }

  /** Another server took over. */
  bell(): void {
    for (const [part, power] of [
      [1, 0.22],
      [2.02, 0.1],
      [3.01, 0.05],
    ] as const) {
      this.#tone(null, { pitch: 392 * part, to: 391 * part, lasts: 1.6, power, shape: 'sine' })
    }
  }

  #tone(at: Vec2 | null, tone: Tone): void {
    const voice = this.#voice(at, tone)
    if (!voice) return
    const { context, gain, start } = voice
    const source = context.createOscillator()
    source.type = tone.shape
    source.frequency.setValueAtTime(tone.pitch, start)
    source.frequency.exponentialRampToValueAtTime(Math.max(20, tone.to), start + tone.lasts)
    this.#play(source, gain, start, tone.lasts)
  }

  #hiss(at: Vec2 | null, hiss: Hiss): void {
    const voice = this.#voice(at, hiss)
    if (!voice) return
    const { context, gain, start } = voice
    const source = context.createBufferSource()
    source.buffer = this.#noise
    const filter = context.createBiquadFilter()
    filter.type = 'bandpass'
    filter.frequency.setValueAtTime(hiss.pitch * 1.6, start)
    filter.frequency.exponentialRampToValueAtTime(hiss.pitch * 0.5, start + hiss.lasts)
    filter.Q.value = 0.9
    filter.connect(gain)
    this.#play(source, filter, start, hiss.lasts)
  }

  #voice(at: Vec2 | null, { power, lasts, after = 0 }: Hiss): Voice | null {
    const [context, out] = [this.#context, this.#out]
    if (!context || !out || this.#muted || this.#voices >= VOICES_MAX) return null
    if (context.state !== 'running') return null
    const start = context.currentTime + after
    const far = at ? Math.hypot(at[0] - this.ear[0], at[1] - this.ear[1]) : 0
    const gain = context.createGain()
    gain.gain.setValueAtTime(power / (1 + far * 0.09), start)
    gain.gain.exponentialRampToValueAtTime(0.0005, start + lasts)
    const side = context.createStereoPanner()
    side.pan.value = at ? Math.max(-0.8, Math.min(0.8, (at[0] - this.ear[0]) / 22)) : 0
    gain.connect(side).connect(out)
    return { context, gain, start }
  }

  #play(source: AudioScheduledSourceNode, into: AudioNode, start: number, lasts: number): void {
    this.#voices++
    source.onended = () => void this.#voices--
    source.connect(into)
    source.start(start)
    source.stop(start + lasts)
  }
}

interface Hiss {
  /** In hertz. */
  pitch: number
  /** In seconds. */
  lasts: number
  power: number
  /** In seconds from now. */
  after?: number
}

interface Tone extends Hiss {
  to: number
  shape: OscillatorType
}

interface Voice {
  context: AudioContext
  gain: GainNode
  start: number
}

function noiseOf(context: AudioContext): AudioBuffer {
  const buffer = context.createBuffer(1, context.sampleRate / 2, context.sampleRate)
  const samples = buffer.getChannelData(0)
  for (let i = 0; i < samples.length; i++) samples[i] = Math.random() * 2 - 1
  return buffer
}
