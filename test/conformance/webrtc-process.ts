/** The end of a process on Node, in a network of its own. */

import { openChannelsOnNode } from '../../packages/holdfast/src/drivers/net/webrtc/node.ts'
import { openEnd, type Order } from './webrtc-end.ts'

const order = openEnd(
  (events) => openChannelsOnNode({}, () => ({}), events),
  (told) => process.send!(told),
)
process.on('message', (given: Order) => {
  order(given)
  // What is left must not keep the process.
  if (given.do === 'close') process.disconnect()
})
