/** Players who are away with seat or cards, and the claims that the others make and decide. */

import type { ComponentChild } from 'preact'
import { Backs } from './bar.tsx'
import { colourOf } from './colours.ts'
import type { Play } from './play.ts'
import { type Claim, claimsOf } from './rules/kept.ts'
import { isInRound } from './rules/round.ts'
import { searcherOf } from './rules/search.ts'
import { clearedBy } from './rules/shelf.ts'
import { ACTS } from './rules/things.ts'
import { Searched } from './sheets.tsx'

/** In the list of who is here: those who are not, with what is theirs. */
export function Absent({ play }: { play: Play }): ComponentChild {
  const claimed = claimsOf(play.session.table).map(({ player }) => player)
  const canTake = !isInRound(play.session.table, play.session.me.player)
  return play.absent.map((player) => (
    <li key={player} class="absent">
      <span class="dot" aria-hidden="true" style={{ background: colourOf(player) }} />
      <span class="name">{play.called(player)}</span>
      <span class="watches">away</span>
      <Backs count={play.handOf(player).length} />
      {!play.watching && !claimed.includes(player) && (
        <span class="ways">
          {canTake && (
            <button type="button" title="Play on in their place" onClick={() => take(play, player)}>
              Take over
            </button>
          )}
          <button
            type="button"
            title="Their cards go into the deck"
            onClick={() => free(play, player)}
          >
            Free
          </button>
        </span>
      )}
    </li>
  ))
}

function take(play: Play, player: number): void {
  void play.act(ACTS.claim, { player, free: false })
}

function free(play: Play, player: number): void {
  void play.act(ACTS.claim, { player, free: true })
}

/** Over the table: what we are asked, and whose place may be ours. */
export function Claims({ play, bottom }: { play: Play; bottom: number }): ComponentChild {
  const claims = claimsOf(play.session.table)
  const own = play.formerSelf
  const isClaimed = claims.some(({ player }) => player === own)
  const cleared = clearedBy(play.session.table, play.session.now())
  const asks = claims.length > 0 || (own !== null && !isClaimed)
  if (!asks && cleared === null && searcherOf(play.session.table) === 0) return null
  return (
    <div
      class="claims"
      role="group"
      aria-label="Who is away"
      style={{ bottom: `${bottom + 60}px` }}
    >
      {cleared !== null && !play.watching && <Cleared play={play} by={cleared} />}
      <Searched play={play} />
      {claims.map((claim) => (
        <Asked key={claim.player} play={play} claim={claim} />
      ))}
      {own !== null && !isClaimed && (
        <section>
          <p>
            <b>{play.called(own)}</b> is away, and keeps {propertyOf(play, own)}. Was that you?
          </p>
          <button type="button" class="main" onClick={() => take(play, own)}>
            Go on as {play.called(own)}
          </button>
        </section>
      )}
    </div>
  )
}

// The player who cleared the table may have been the only one who wanted that.
function Cleared({ play, by }: { play: Play; by: number }): ComponentChild {
  const who = by === play.session.me.player ? 'You' : play.called(by)
  return (
    <section class="slim">
      <p>{who} cleared the table.</p>
      <button type="button" onClick={() => void play.act(ACTS.takeBack, null)}>
        Take that back
      </button>
    </section>
  )
}

function propertyOf(play: Play, player: number): string {
  const cards = play.handOf(player).length
  if (cards === 0) return 'a seat'
  return cards === 1 ? 'one card' : `${cards} cards`
}

function Asked({ play, claim }: { play: Play; claim: Claim }): ComponentChild {
  const { player, by, agreed } = claim
  const { me } = play.session
  const vote = (yes: boolean): void => void play.act(ACTS.vote, { player, yes })
  const whose = `what ${play.called(player)} left`
  const what = by === 0 ? `to free ${whose}` : `to play on with ${whose}`
  const who = by === me.player ? 'You ask' : `${play.called(by === 0 ? agreed[0]! : by)} asks`
  return (
    <section>
      <p>
        {who} {what}. Who says nothing within half a minute agrees.
      </p>
      {play.isAsked(claim) && (
        <>
          <button type="button" class="main" onClick={() => vote(true)}>
            Agree
          </button>
          <button type="button" onClick={() => vote(false)}>
            Object
          </button>
        </>
      )}
    </section>
  )
}
