/** A member in Bun and in Deno. Usage: SERVER NAME */

import { play } from './scene.ts'

const [server, name] = process.argv.slice(2)
console.log(JSON.stringify(await play(server!, name!)))
process.exit(0)
