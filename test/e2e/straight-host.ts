/** A host of Dots in a process of its own that listens for pages; its end is that of its parent. */

import { TYPES } from '../../games/dots/rules.ts'
import { join } from '../../packages/holdfast/src/node.ts'

const [, , server = '', room = ''] = process.argv
process.on('disconnect', () => process.exit(0))
const wish = { game: 'dots', room, name: 'host', types: TYPES, server }
// While the hub is away a kept room goes on for 45 s only.
await join({ ...wish, keepRoom: false, listen: { port: 0 } })
process.send!('ready')
