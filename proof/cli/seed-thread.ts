/** A thread that runs seeds. */

import { draw } from '../seeds.ts'
import { run } from '../trial.ts'
import { work } from './pool.ts'

work((seed: number) => run(draw(seed)))
