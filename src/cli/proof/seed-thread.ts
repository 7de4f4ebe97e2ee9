/** A thread that runs seeds. */

import { draw } from '../../proof/seeds.ts'
import { run } from '../../proof/trial.ts'
import { work } from './pool.ts'

work((seed: number) => run(draw(seed)))
