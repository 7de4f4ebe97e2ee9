/** `npm run shape`: lines of code and lengths of functions, for each kind of code. */

import { circles } from '../tidy/layers.ts'
import { sources } from '../tidy/codebase.ts'
import { measure } from './measure.ts'

const all = sources(process.cwd())
for (const { kind, files, lines, median, longest } of measure(all)) {
  const functions = `functions of ${median} lines in the middle, ${longest} at most`
  console.log(`${kind}: ${lines} lines of code in ${files} files; ${functions}`)
}
console.log(`circles of imports: ${circles(all).length}`)
