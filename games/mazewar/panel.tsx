/** What stands around the view: header, map, scores, what happened. */

import type { ComponentChild } from 'preact'
import { Head } from '../head.tsx'
import { Invite } from '../invite.tsx'
import { Personal, Share } from '../share.tsx'
import { Badges, Figures, Killer, Notes } from '../signs.tsx'
import type { Controller } from './controller.ts'
import type { Play } from './play.ts'
import { peek } from './rules/peek.ts'
import { byScore, MISSILES_MAX, type Rat } from './rules/world.ts'
import { colourOf, css } from './view/colours.ts'

/** How things stand, in one row. */
export function Header(props: {
  room: string
  play: Play | null
  leave: (() => void) | null
  muted: boolean
  mute: () => void
  help: () => void
}): ComponentChild {
  const { room, play } = props
  return (
    <Head
      sign={<span class="mark" aria-hidden="true" />}
      game="Mazewar"
      room={room}
      leave={props.leave}
    >
      {play && (
        <Figures player={play}>
          <Own play={play} />
        </Figures>
      )}
      <span class="tools">
        <button type="button" onClick={props.mute} aria-pressed={props.muted} title="Sound (M)">
          {props.muted ? 'Sound off' : 'Sound on'}
        </button>
        <button type="button" onClick={props.help} title="How it is played (H)">
          Help
        </button>
      </span>
    </Head>
  )
}

function Own({ play }: { play: Play }): ComponentChild {
  const { epoch } = play.session.debug.figures()
  return (
    <li class="figure" title="Slots of 200 ms that everybody computes alike; no server is asked">
      epoch <b>{epoch}</b> slot <b>{play.controller.maze.slot}</b>
    </li>
  )
}

/** Over the view: points, missiles, cloak, and the last words. */
export function Hud(props: { controller: Controller; enter: (() => void) | null }): ComponentChild {
  const { controller, enter } = props
  const { rat, lines, stage } = controller
  return (
    <div class="hud">
      {rat ? (
        <State rat={rat} controller={controller} />
      ) : (
        <Watching controller={controller} enter={enter} />
      )}
      {stage.peeks && rat && (
        <p class="sign">
          {peek(rat.at, rat.facing, stage.peeks) ? 'peeking' : 'no corner to the'} {stage.peeks}
        </p>
      )}
      {rat?.cloaked && <p class="sign cloaked">cloaked</p>}
      <ol class="lines" aria-live="polite">
        {lines.map((line) => (
          <li key={line.id} class={line.kind}>
            {line.text}
          </li>
        ))}
      </ol>
    </div>
  )
}

function State({ rat, controller }: { rat: Rat; controller: Controller }): ComponentChild {
  const rats = byScore(controller.maze.ahead)
  const place = rats.findIndex(({ id }) => id === rat.id) + 1
  const left = MISSILES_MAX - rat.missiles.length
  return (
    <p class="state">
      <b>{rat.score}</b>
      <span>
        {place} of {rats.length}
      </span>
      <span class="charges" role="img" aria-label={`${left} missiles left`}>
        {Array.from({ length: MISSILES_MAX }, (_, i) => (
          <i key={i} class={i < left ? 'full' : ''} />
        ))}
      </span>
    </p>
  )
}

function Watching(props: { controller: Controller; enter: (() => void) | null }): ComponentChild {
  const { maze, stage } = props.controller
  const empty = maze.state.rats.length === 0
  const whose = stage.whose === null ? 'You watch.' : `The eyes of ${maze.nameOf(stage.whose)}`
  return (
    <p class="state">
      {empty ? 'Nobody is in the maze.' : whose}
      {!empty && (
        <button type="button" onClick={() => props.controller.watch(1)}>
          Next
        </button>
      )}
      {props.enter && (
        <button type="button" class="main" onClick={props.enter}>
          Play
        </button>
      )}
    </p>
  )
}

/** Everybody, by points. */
export function Scores({
  controller,
  play,
}: {
  controller: Controller
  play: Play | null
}): ComponentChild {
  const { maze, stage } = controller
  const rats = byScore(maze.ahead)
  return (
    <ol class="scores">
      {rats.map((rat) => (
        <li key={rat.id} class={rat.id === maze.me ? 'me' : ''}>
          <span class="dot" style={{ background: css(colourOf(rat.id)) }} aria-hidden="true" />
          <button
            type="button"
            class="name"
            disabled={controller.rat !== undefined}
            title={controller.rat ? undefined : 'Watch'}
            onClick={() => (stage.whose = rat.id)}
          >
            {maze.nameOf(rat.id)}
          </button>
          {play ? <Seat play={play} rat={rat} /> : rat.id === maze.me && <You />}
          <b class="points">{rat.score}</b>
        </li>
      ))}
      {rats.length === 0 && <li class="none">Nobody is in the maze.</li>}
    </ol>
  )
}

function You(): ComponentChild {
  return (
    <span class="badges">
      <b class="badge you">you</b>
    </span>
  )
}

function Seat({ play, rat }: { play: Play; rat: Rat }): ComponentChild {
  const member = play.session.members.find(({ player }) => player === rat.owner)
  if (!member) return null
  if (rat.id === rat.owner) return <Badges session={play.session} member={member} />
  return (
    <span class="badges">
      <b class="badge" title={`On the LAN behind ${member.name}`}>
        LAN
      </b>
    </span>
  )
}

/** Map, scores, what happened, and the button that kills whoever serves. */
export function Side(props: {
  controller: Controller
  play: Play | null
  map: (canvas: HTMLCanvasElement | null) => void
  share: string
  personal: string | null
}): ComponentChild {
  const { controller, play, share, personal } = props
  return (
    <aside class="side">
      <canvas class="map" ref={props.map} role="img" aria-label="The maze from above" />
      <div class="more">
        <h2>
          In the maze <span class="count">{controller.maze.ahead.rats.length}</span>
        </h2>
        <Scores controller={controller} play={play} />
        {play && <Invite company={play.company} />}
        {play && <Killer player={play} />}
        {personal && <h2>Invite others</h2>}
        {personal && <Share link={share} />}
        {personal && (
          <details class="personal">
            <summary>Continue on another device</summary>
            <Personal link={personal} />
          </details>
        )}
        <p class="keys">
          <kbd>↑</kbd> run <kbd>←</kbd> <kbd>→</kbd> turn <kbd>Space</kbd> shoot <kbd>Q</kbd>{' '}
          <kbd>E</kbd> peek <kbd>C</kbd> cloak
        </p>
        {/* Last, for it grows: what has the focus stays where it is. */}
        {play && <h2>What happened</h2>}
        {play && <Notes story={play.story} none="Nothing yet." />}
      </div>
    </aside>
  )
}
