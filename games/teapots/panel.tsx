/**
 * Under the lid: who serves, how old data is, worse weather, warping, and the button that kills
 * the server. All that can be changed here is this window's own affair, but the last.
 */

import { type ComponentChild, createRef } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { Expel, Outside } from '../expel.tsx'
import { Invite } from '../invite.tsx'
import { Personal, Share } from '../share.tsx'
import { Badges, Killer, Notes } from '../signs.tsx'
import type { Chart } from './chart.ts'
import { kilobytes, Whose } from './hud.tsx'
import type { Play } from './play.ts'
import { STAGE_WORDS, type StageName } from './stages.ts'

/** How often the chart is drawn, in milliseconds. */
const CHART_MS = 250
/** The factor that the game starts with. */
const WARP = 0.85

/** The panel. */
export function Panel(props: {
  play: Play
  share: string
  personal: string
  close: () => void
}): ComponentChild {
  const { play } = props
  return (
    <aside class="panel" aria-label="Under the lid">
      <header>
        <h2>Under the lid</h2>
        <button type="button" class="round" aria-label="Close" onClick={props.close}>
          ✕
        </button>
      </header>
      <Serving play={play} />
      <section>
        <h3>Bots</h3>
        <Invite company={play.company} />
      </section>
      <Ages play={play} />
      <Sugar play={play} />
      <Weather play={play} />
      <Own play={play} />
      <section>
        <h3>Invite</h3>
        <Share link={props.share} />
      </section>
      <section>
        <h3>Continue on another device</h3>
        <Personal link={props.personal} />
      </section>
      <section>
        <h3>What happened</h3>
        <Notes story={play.story} none="Nothing yet." />
      </section>
    </aside>
  )
}

function Serving({ play }: { play: Play }): ComponentChild {
  const { session } = play
  const { epoch, role, path } = session.debug.figures()
  return (
    <section>
      <h3>Who serves</h3>
      <ul class="members">
        {session.members.map((member) => (
          <li key={member.player}>
            <span class="name">{member.name}</span>
            <Badges session={session} member={member} />
            <Expel player={play} member={member} />
          </li>
        ))}
      </ul>
      <Outside player={play} />
      <p class="fine">
        Epoch {epoch}, role {role}
        {path === 'none' ? '' : `, path ${path}`}.
      </p>
      <Killer player={play} />
    </section>
  )
}

function Ages({ play }: { play: Play }): ComponentChild {
  const place = createRef<HTMLDivElement>()
  const [words, setWords] = useState<readonly [StageName, string, string][]>([])
  useEffect(() => drawAges(place.current!, play, setWords), [play])
  const ages = play.session.debug.ages()
  return (
    <section class="ages">
      <h3>Age of data, in milliseconds</h3>
      <div class="chart" ref={place} />
      <table>
        <tbody>
          {words.map(([name, word, colour]) => (
            <tr key={name}>
              <th scope="row">
                <i style={{ background: colour }} aria-hidden="true" />
                {word}
              </th>
              <td>{figure(ages[name].mean)}</td>
              <td class="fine">p99 {figure(ages[name].p99)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

// The chart is not loaded before somebody wants to see it.
function drawAges(
  place: HTMLElement,
  { session }: Play,
  loaded: (words: typeof STAGE_WORDS) => void,
): () => void {
  let chart: Chart | null = null
  let gone = false
  void import('./chart.ts').then((module) => {
    if (gone) return
    chart = new module.Chart(place)
    loaded(STAGE_WORDS)
  })
  const timer = setInterval(() => {
    if (session.status === 'live') chart?.show(session.debug.ages(), session.now())
  }, CHART_MS)
  return () => {
    gone = true
    clearInterval(timer)
    chart?.destroy()
  }
}

function figure(ms: number): string {
  return Number.isFinite(ms) ? String(Math.round(ms)) : '–'
}

function Sugar({ play }: { play: Play }): ComponentChild {
  const { in: came, out } = play.session.debug.figures().bytesPerSecond
  return (
    <section>
      <h3>Lumps of sugar, by owner and version</h3>
      <ul class="lumps">
        {play.sugar.sights.map(({ handle }) => (
          <li key={handle.id}>
            <Whose play={play} lump={handle} />
          </li>
        ))}
      </ul>
      <p class="fine">
        Whoever bumps a lump owns it. In {kilobytes(came)}, out {kilobytes(out)} kB a second.
      </p>
    </section>
  )
}

function Weather({ play }: { play: Play }): ComponentChild {
  const [rtt, setRtt] = useState(0)
  const [loss, setLoss] = useState(0)
  const [jitter, setJitter] = useState(0)
  useEffect(() => {
    if (play.session.status !== 'live') return
    const fair = rtt === 0 && loss === 0 && jitter === 0
    play.session.debug.condition(fair ? null : `rtt=${rtt},loss=${loss}%,jitter=${jitter}`)
  }, [play, rtt, loss, jitter])
  return (
    <section>
      <h3>Weather on this window’s links</h3>
      <Slider word="Round trip" unit="ms" max={600} step={20} value={rtt} set={setRtt} />
      <Slider word="Loss" unit="%" max={40} step={1} value={loss} set={setLoss} />
      <Slider word="Jitter" unit="ms" max={200} step={5} value={jitter} set={setJitter} />
    </section>
  )
}

function Own({ play }: { play: Play }): ComponentChild {
  const [factor, setFactor] = useState(WARP)
  const warp = (value: number): void => {
    setFactor(value)
    play.session.debug.warp(value)
  }
  return (
    <section>
      <h3>How others are shown</h3>
      <Slider word="Warping F" unit="" max={0.98} step={0.01} value={factor} set={warp} />
      <p class="fine">
        Between two updates a pot goes on by its velocity. With F at 0 it jumps to each correction;
        above, it is eased into it. Bad weather shows the difference best.
      </p>
      {play.seat && (
        <label class="check">
          <input
            type="checkbox"
            checked={play.autopilot}
            onChange={(event) => (play.autopilot = event.currentTarget.checked)}
          />
          Let my pot play by itself
        </label>
      )}
    </section>
  )
}

function Slider(props: {
  word: string
  unit: string
  max: number
  step: number
  value: number
  set: (value: number) => void
}): ComponentChild {
  const { word, unit, max, step, value, set } = props
  return (
    <label class="slider">
      <span>{word}</span>
      <input
        type="range"
        min={0}
        max={max}
        step={step}
        value={value}
        onInput={(event) => set(Number(event.currentTarget.value))}
      />
      <output>
        {value}
        {unit === '' ? '' : ` ${unit}`}
      </output>
    </label>
  )
}
