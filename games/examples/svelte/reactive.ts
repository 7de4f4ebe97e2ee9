/** Stores of Holdfast, for Svelte 5. */

import type { Store } from 'holdfast'
import { createSubscriber } from 'svelte/reactivity'

/** What reads `current` runs again after each change; it subscribes while anything reads it. */
export function reactive<Item>({ snapshot, subscribe }: Store<Item>): { readonly current: Item } {
  const track = createSubscriber(subscribe)
  return {
    get current() {
      track()
      return snapshot()
    },
  }
}
