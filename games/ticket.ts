/**
 * The ticket of an invitation: a link has it in its fragment, `#ticket=…`, which a browser tells no
 * server. Who came in by it comes back without, as the player of its tab.
 */

/** The ticket in a fragment; undefined if there is none. */
export function ticketIn(fragment: string): string | undefined {
  return new URLSearchParams(fragment.slice(1)).get('ticket') ?? undefined
}
