/** The end of a page: `order` takes orders, and `told` is what Playwright hears. */

import { openChannelsInPage } from '../../packages/holdfast/src/drivers/net/webrtc/page.ts'
import { openEnd, type Order, type Told } from './webrtc-end.ts'

const page = globalThis as unknown as {
  told: (told: Told) => void
  order: (order: Order) => void
}
const ice = {}
page.order = openEnd(
  (events) => openChannelsInPage(ice, events),
  (told) => page.told(told),
)
