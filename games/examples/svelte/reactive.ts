/** Stores of Holdfast, for Svelte 5. */

import type { Store } from 'holdfast'
import { createSubscriber } from 'svelte/reactivity'

/** A component that reads `current` updates after each change; unread, it does not subscribe. */
export function reactive<Item>({ snapshot, subscribe }: Store<Item>): { readonly current: Item } {
  const track = createSubscriber(subscribe)
  return {
    get current() {
      track()
      return snapshot()
    },
  }
}
