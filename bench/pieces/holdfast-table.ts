/**
 * Holdfast's primary, which moves nothing itself.
 *
 *     node holdfast-table.js URL
 */

import { join } from '../../packages/holdfast/src/node.ts'
import { asked, beat } from '../objects/ticks.ts'
import type { ServerSaid } from '../objects/words.ts'
import { Card, lay } from './card.ts'

const [url] = process.argv.slice(2) as [string]
process.on('disconnect', () => process.exit())

const session = await join({
  game: 'cards',
  name: 'primary',
  types: [Card, lay],
  server: url,
  playersMax: 256,
  udp: {},
})
await session.act(lay, null)
let steady = true
session.on('primary', () => (steady = false))

function say(said: ServerSaid): void {
  process.send?.(said)
}

asked('begin', ({ window }) => {
  void beat(window, () => {}).then((took) =>
    say({ kind: 'served', ...took, interestMs: 0, steady }),
  )
})
say({ kind: 'serves', port: 0 })
