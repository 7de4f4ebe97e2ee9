/** A thread that runs seeds. */

import { draw, drawTwoHubs } from '../seeds.ts'
import { run } from '../trial.ts'
import { work } from './pool.ts'
import type { Task } from './seed-runs.ts'

work(({ seed, hubs }: Task) => run(hubs > 1 ? drawTwoHubs(seed) : draw(seed)))
