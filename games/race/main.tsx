/**
 * The page of the race: Bitsquid's paradox of an object that changes hands, to be played with.
 * `?play=` says which scenario, `?fix=on` begins with the fix.
 *
 * For tests, `document.body.dataset` says how things stand: `play`, `fix` (on, off), `order` (the
 * messages to X as they arrive), `verdict` (well, luck, paradox), `note` (why a drag was held).
 */

import { type ComponentChild, render } from 'preact'
import { Chart } from './chart.tsx'
import { Remedies } from './remedies.tsx'
import { Beliefs, Verdict } from './signs.tsx'
import { type Drag, drag, draw, pass, type Picture } from './rules/picture.ts'
import { type Scenario, scenarioOf, SCENARIOS, type Wishes } from './rules/scenarios.ts'
import { judge } from './rules/verdict.ts'

const HINT = 'Drag the messages below X to arrive earlier or later; or focus one and press ← or →.'

const query = new URLSearchParams(location.search)
let scenario = scenarioOf(query.get('play') ?? 'shortest')
let fixed = query.get('fix') === 'on'
let wishes: Wishes = scenario.wishes
/** Why the last drag was held, and of which message. */
let note = { name: '', why: '' }
let picture = draw(scenario, wishes, fixed)

function choose(next: Scenario): void {
  scenario = next
  wishes = next.wishes
  redraw({ name: '', why: '' })
}

function fix(on: boolean): void {
  fixed = on
  redraw({ name: '', why: '' })
}

function moved(name: string, { at, why }: Drag): void {
  // What the link holds back elsewhere stays where it is shown.
  const shown = Object.fromEntries(picture.arrows.map((arrow) => [arrow.name, arrow.at]))
  wishes = { ...shown, [name]: at }
  redraw({ name, why })
}

function redraw(next: typeof note): void {
  note = next
  picture = draw(scenario, wishes, fixed)
  const url = new URL(location.href)
  url.searchParams.set('play', scenario.id)
  url.searchParams.set('fix', fixed ? 'on' : 'off')
  history.replaceState(null, '', url)
  show()
}

function Page(): ComponentChild {
  return (
    <>
      <header class="head">
        <a href="../">Holdfast</a>
        <h1>How an object changes hands</h1>
        <p>
          A creates an object. HOST has it go to B. X hears of both, by ways of different length.
          The makers of the Bitsquid engine found what can happen then, and how little it takes to
          put it right.
        </p>
      </header>
      <main>
        <Controls />
        <section class="stage" aria-label="The race">
          <div class="top">
            <Verdict verdict={judge(picture)} />
            <Switch />
          </div>
          <Chart
            picture={picture}
            drag={(name, at) => moved(name, drag(picture, name, at))}
            pass={(name, by) => moved(name, pass(picture, name, by))}
          />
          <p class="note" role="status">
            {note.why || heldBack(picture) || HINT}
          </p>
          <p class="legend">
            A thick line: who believes in the object, in the colour of whom they take for its owner.
          </p>
        </section>
        <Beliefs picture={picture} />
        <Fix />
        <Remedies scenario={scenario} wishes={wishes} />
        <Proof />
      </main>
    </>
  )
}

function heldBack({ arrows }: Picture): string {
  return arrows.find(({ held }) => held)?.held ?? ''
}

function Controls(): ComponentChild {
  return (
    <section class="controls" aria-label="What is played">
      <div class="plays">
        {SCENARIOS.map((each) => (
          <button
            key={each.id}
            type="button"
            aria-pressed={each.id === scenario.id}
            onClick={() => choose(each)}
          >
            {each.title}
          </button>
        ))}
      </div>
      <p>{scenario.says}</p>
    </section>
  )
}

function Switch(): ComponentChild {
  return (
    <button
      type="button"
      class="switch"
      role="switch"
      aria-checked={fixed}
      onClick={() => fix(!fixed)}
    >
      <i aria-hidden="true" />
      <span>
        The fix is <b>{fixed ? 'on' : 'off'}</b>
      </span>
    </button>
  )
}

function Fix(): ComponentChild {
  return (
    <section class="words">
      <h2>The fix</h2>
      <ul>
        <li>
          <b>The new owner tells.</b> HOST decides and tells B alone, with a GRANT. B tells
          everybody. So of each owner X hears by one way, and in order.
        </li>
        <li>
          <b>Versions.</b> HOST counts the changes of hands, and CREATE, MIGRATE and DESTROY carry
          the count. What is older than what X has is nothing. (Holdfast puts the epoch of the host
          before the count, so that a new host never counts as an old one did.)
        </li>
        <li>
          <b>A MIGRATE is a CREATE</b> for who never heard of the object; it carries all of it.
        </li>
        <li>
          <b>What is gone is remembered</b> for a while, with its version. Else a late CREATE would
          bring it back.
        </li>
      </ul>
    </section>
  )
}

function Proof(): ComponentChild {
  return (
    <section class="words">
      <h2>Is this real?</h2>
      <p>
        What each of them believes is not told again for this page: it runs the objects of Holdfast
        as they ship, and with the fix off the first form, which is kept in them as a planted bug.
        The model checker tries every order of messages and finds the shortest paradox by itself:
      </p>
      <pre>npm run explore -- objects --variant host-sends-migrate</pre>
      <p>
        Updates are left out of the picture. They may come in any order: an update counts only for
        the version that it is of, and its owner sends X none before X has heard of that version.
      </p>
    </section>
  )
}

function show(): void {
  render(<Page />, document.querySelector('#page')!)
  Object.assign(document.body.dataset, {
    play: scenario.id,
    fix: fixed ? 'on' : 'off',
    order: picture.arrows.map(({ name }) => name).join(' '),
    verdict: judge(picture).kind,
    note: note.why,
  })
}

show()
