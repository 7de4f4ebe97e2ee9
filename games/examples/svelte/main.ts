/** The page of the tasks: open it in two windows; close either, and the tasks stay. */

import { join } from 'holdfast'
import { mount } from 'svelte'
import { tasks } from '../tasks.ts'
import App from './App.svelte'

const target = document.querySelector('#page')!
try {
  const session = await join(tasks)
  mount(App, { target, props: { session } })
} catch (error) {
  target.textContent = (error as Error).message
}
