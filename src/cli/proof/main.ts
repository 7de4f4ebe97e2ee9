/**
 * `npm run sim` and `npm run explore`: commands of the repository, for what they run, the proofs
 * and their models, is not in the package.
 */

import { runProgram } from '../program.ts'
import { addExplore } from './explore.ts'
import { addSim } from './sim.ts'

await runProgram('npm run', [addSim, addExplore])
