/** Stores of Holdfast, for Vue 3. */

import type { Store } from 'holdfast'
import { onScopeDispose, type ShallowRef, shallowRef } from 'vue'

/** A ref of the value, until the component is unmounted. A deep `ref` would wrap the handles. */
export function useStore<Item>({ snapshot, subscribe }: Store<Item>): Readonly<ShallowRef<Item>> {
  const value = shallowRef(snapshot())
  onScopeDispose(subscribe(() => void (value.value = snapshot())))
  return value
}
