/**
 * `npm run sim` and `npm run explore`: commands of the repository only, because the proofs and
 * models that they run are not in the package.
 */

import { runProgram } from '../../packages/cli/src/program.ts'
import { addExplore } from './explore.ts'
import { addSim } from './sim.ts'

await runProgram('npm run', [addSim, addExplore])
