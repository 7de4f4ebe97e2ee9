/** The sheet that shows the box of the free table: boards, jokers, dice, tokens, counters. */

import type { ComponentChild } from 'preact'
import type { Play } from './play.ts'
import { COLOURS, hasJokers, SIDES_OF_DICE, type Wanted } from './rules/box.ts'
import { boardOf } from './rules/men.ts'
import { ACTS } from './rules/things.ts'
import { TOKEN_COLOURS } from './view/tokens.tsx'

/** The sheet stays open while a player takes several things out. */
export function Box({ play, close }: { play: Play; close: () => void }): ComponentChild {
  const board = boardOf(play.session.table)
  const jokers = hasJokers(play.session.table)
  return (
    <>
      <h2>The box</h2>
      <div class="row" role="group" aria-label="Boards and jokers">
        {(['draughts', 'chess'] as const).map((each) => (
          <button
            key={each}
            type="button"
            data-first
            aria-pressed={board === each}
            onClick={() => void play.act(ACTS.board, { out: board === each ? null : each })}
          >
            {each === 'chess' ? 'Chess' : 'Draughts'}
          </button>
        ))}
        <button
          type="button"
          aria-pressed={jokers}
          onClick={() => void play.act(ACTS.jokers, { in: !jokers })}
        >
          Two jokers
        </button>
      </div>
      <Many play={play} what="die" />
      <Many play={play} what="token" />
      <Many play={play} what="counter" />
      <p class="fine">
        All of it comes to lie on the table. Its menu, or the key Del, puts a thing back.
      </p>
      <button type="button" class="main" onClick={close}>
        Done
      </button>
    </>
  )
}

const TITLES: Readonly<Record<Wanted['what'], string>> = {
  die: 'Dice',
  token: 'Tokens',
  counter: 'Counters',
}

function Many({ play, what }: { play: Play; what: Wanted['what'] }): ComponentChild {
  const kinds = what === 'die' ? SIDES_OF_DICE : COLOURS.map((_, colour) => colour)
  return (
    <div class="kinds" role="group" aria-label={TITLES[what]}>
      <span>{TITLES[what]}</span>
      {kinds.map((kind) => (
        <button
          key={kind}
          type="button"
          aria-label={`Take out a ${what === 'die' ? `d${kind}` : `${COLOURS[kind]} ${what}`}`}
          onClick={() => void play.act(ACTS.takeOut, { what, kind })}
        >
          {what === 'die' ? (
            `d${kind}`
          ) : (
            <i class={what} style={{ background: TOKEN_COLOURS[kind] }} />
          )}
        </button>
      ))}
    </div>
  )
}
