/** The page of the tasks: open it in two windows; close either, and the tasks stay. */

import { join } from 'holdfast'
import { createApp } from 'vue'
import { tasks } from '../tasks.ts'
import App from './App.vue'

const target = document.querySelector('#page')!
try {
  const session = await join(tasks)
  createApp(App, { session }).mount(target)
} catch (error) {
  target.textContent = (error as Error).message
}
