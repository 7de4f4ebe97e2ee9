/**
 * The timeline: a lane for each of them, in the colour of whom they take for the owner, arrows for
 * the messages, and below X the messages by name, which can be dragged.
 */

import type { ComponentChild, HTMLAttributes } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { Arrow, Picture } from './rules/picture.ts'
import { nameParts } from './signs.tsx'

const LEFT = 58
const RIGHT = 30
const TOP = 26
const LANE = 58
/** A name below X. */
const NAME = { width: 56, height: 44, first: 30, level: 50 }

interface Scale {
  width: number
  x: (ms: number) => number
  ms: (x: number) => number
  y: (who: string) => number
}

interface Props {
  picture: Picture
  drag: (name: string, at: number) => void
  pass: (name: string, by: -1 | 1) => void
}

/** See the head of this file. */
export function Chart(props: Props): ComponentChild {
  const { picture } = props
  const box = useRef<HTMLDivElement>(null)
  const [width, setWidth] = useState(640)
  useEffect(() => {
    const seen = new ResizeObserver(() => setWidth(box.current!.clientWidth))
    seen.observe(box.current!)
    return () => seen.disconnect()
  }, [])
  const scale = scaleOf(picture, width)
  const levels = levelsOf(picture, scale)
  const bottom = scale.y('X') + NAME.first + NAME.level * (Math.max(0, ...levels) + 1)
  return (
    <div class="chart" ref={box}>
      <svg viewBox={`0 0 ${width} ${bottom}`} width={width} height={bottom}>
        <Heads />
        <Lanes picture={picture} scale={scale} />
        <Others picture={picture} scale={scale} />
        {picture.arrows.map((arrow) => (
          <Line key={arrow.name} arrow={arrow} scale={scale} />
        ))}
        <Deeds picture={picture} scale={scale} />
        {picture.arrows.map((arrow, place) => (
          <Stem key={arrow.name} arrow={arrow} scale={scale} level={levels[place]!} />
        ))}
      </svg>
      {picture.arrows.map((arrow, place) => (
        <Name key={arrow.name} {...props} arrow={arrow} scale={scale} level={levels[place]!} />
      ))}
    </div>
  )
}

function scaleOf({ scenario }: Picture, width: number): Scale {
  const { members, endMs } = scenario
  const perMs = (width - LEFT - RIGHT) / endMs
  return {
    width,
    x: (ms) => LEFT + ms * perMs,
    ms: (x) => (x - LEFT) / perMs,
    y: (who) => TOP + members.indexOf(who) * LANE,
  }
}

// Names that would overlap stand one below the other.
function levelsOf({ arrows }: Picture, scale: Scale): number[] {
  const ends: number[] = []
  return arrows.map(({ at }) => {
    const from = scale.x(at) - NAME.width / 2
    let level = ends.findIndex((end) => end + 4 <= from)
    if (level < 0) level = ends.length
    ends[level] = from + NAME.width
    return level
  })
}

function Heads(): ComponentChild {
  return (
    <defs>
      {['HOST', 'A', 'B', 'C'].map((who) => (
        <marker
          key={who}
          id={`head-${who}`}
          class={`of-${who}`}
          viewBox="0 0 10 10"
          refX="9"
          refY="5"
          markerWidth="7"
          markerHeight="7"
          orient="auto"
        >
          <path d="M0 0.8 L10 5 L0 9.2 Z" fill="var(--of)" />
        </marker>
      ))}
    </defs>
  )
}

// Each lane is as thick as somebody believes that there is an object, in its owner's colour.
function Lanes({ picture, scale }: { picture: Picture; scale: Scale }): ComponentChild {
  const { members } = picture.scenario
  const end = scale.width - RIGHT + 12
  return (
    <>
      {members.map((who) => (
        <g key={who} class={`lane of-${who}`}>
          <text x="0" y={scale.y(who) + 5} class="who">
            {who}
          </text>
          <line x1={LEFT} x2={end} y1={scale.y(who)} y2={scale.y(who)} class="time" />
          {bandsOf(picture, who).map(({ owner, from, to }) => (
            <line
              key={from}
              class={`band of-${owner}`}
              x1={scale.x(from)}
              x2={to === null ? end : scale.x(to)}
              y1={scale.y(who)}
              y2={scale.y(who)}
            >
              <title>{`${who} takes ${owner} for the owner`}</title>
            </line>
          ))}
        </g>
      ))}
    </>
  )
}

interface Band {
  owner: string
  from: number
  to: number | null
}

function bandsOf({ changes }: Picture, who: string): Band[] {
  const own = changes.filter((change) => change.who === who)
  return own.flatMap(({ at, standing }, place) => {
    if (standing.kind !== 'owned') return []
    return [{ owner: standing.owner, from: at, to: own[place + 1]?.at ?? null }]
  })
}

function Others({ picture, scale }: { picture: Picture; scale: Scale }): ComponentChild {
  return (
    <>
      {picture.others.map(({ message, at }) => (
        <line
          key={message.id}
          class={`other of-${message.from} ${message.word === 'GRANT' ? 'grant' : ''}`}
          x1={scale.x(message.sentAt)}
          y1={scale.y(message.from)}
          x2={scale.x(at)}
          y2={scale.y(message.to)}
          marker-end={message.word === 'GRANT' ? `url(#head-${message.from})` : undefined}
        >
          <title>{`${message.word} from ${message.from} to ${message.to}`}</title>
        </line>
      ))}
    </>
  )
}

function Line({ arrow, scale }: { arrow: Arrow; scale: Scale }): ComponentChild {
  const { message, at } = arrow
  return (
    <line
      class={`arrow of-${message.from}`}
      x1={scale.x(message.sentAt)}
      y1={scale.y(message.from)}
      x2={scale.x(at)}
      y2={scale.y('X') - 4}
      marker-end={`url(#head-${message.from})`}
    />
  )
}

function Deeds({ picture, scale }: { picture: Picture; scale: Scale }): ComponentChild {
  const narrow = scale.width < 520
  return (
    <>
      {picture.scenario.deeds.map((deed) => (
        <g key={deed.at} class={`deed of-${deed.who}`}>
          <circle cx={scale.x(deed.at)} cy={scale.y(deed.who)} r="5" />
          <text x={scale.x(deed.at)} y={scale.y(deed.who) - 10}>
            {deed.does === 'grant' ? `${narrow ? '' : 'gives it '}to ${deed.to}` : `${deed.does}s`}
          </text>
        </g>
      ))}
    </>
  )
}

function Stem(props: { arrow: Arrow; scale: Scale; level: number }): ComponentChild {
  const { arrow, scale, level } = props
  const x = scale.x(arrow.at)
  const to = scale.y('X') + NAME.first + level * NAME.level
  return (
    <line class={`stem of-${arrow.message.from}`} x1={x} y1={scale.y('X') + 6} x2={x} y2={to} />
  )
}

const KEYS: Readonly<Record<string, -1 | 1>> = {
  ArrowLeft: -1,
  ArrowDown: -1,
  ArrowRight: 1,
  ArrowUp: 1,
}

// No part of the SVG: there the browser would scroll under a finger that drags.
function Name(props: Props & { arrow: Arrow; scale: Scale; level: number }): ComponentChild {
  const { picture, arrow, scale, level } = props
  const { name, at, message } = arrow
  const [letter, below] = nameParts(arrow, picture.fixed)
  const place = picture.arrows.indexOf(arrow)
  const count = picture.arrows.length
  const left = scale.x(at) - NAME.width / 2
  const top = scale.y('X') + NAME.first + level * NAME.level
  return (
    <div
      class={`name of-${message.from} ${arrow.held ? 'held' : ''}`}
      style={`left: ${left}px; top: ${top}px; width: ${NAME.width}px; height: ${NAME.height}px`}
      role="slider"
      tabIndex={0}
      aria-label={`${name} from ${message.from}`}
      aria-valuemin={1}
      aria-valuemax={count}
      aria-valuenow={place + 1}
      aria-valuetext={`arrives as ${place + 1} of ${count}, at ${Math.round(at)} ms`}
      {...useHand(props, arrow, scale)}
    >
      <span>
        {letter}
        <sub>{below}</sub>
      </span>
    </div>
  )
}

type Hand = Pick<
  HTMLAttributes<HTMLDivElement>,
  'onKeyDown' | 'onPointerDown' | 'onPointerMove' | 'onPointerUp' | 'onPointerCancel'
>

/** Keys, mouse and finger on the name of a message. */
function useHand(props: Props, { name, at }: Arrow, scale: Scale): Hand {
  const grip = useRef<number | null>(null)
  const ms = ({
    currentTarget,
    clientX,
  }: {
    currentTarget: HTMLElement
    clientX: number
  }): number => scale.ms(clientX - currentTarget.parentElement!.getBoundingClientRect().left)
  const drop = (): void => void (grip.current = null)
  return {
    onKeyDown: (event) => {
      const by = KEYS[event.key]
      if (by === undefined) return
      event.preventDefault()
      props.pass(name, by)
    },
    onPointerDown: (event) => {
      event.currentTarget.setPointerCapture(event.pointerId)
      grip.current = ms(event) - at
    },
    onPointerMove: (event) => {
      if (grip.current !== null) props.drag(name, ms(event) - grip.current)
    },
    onPointerUp: drop,
    onPointerCancel: drop,
  }
}
