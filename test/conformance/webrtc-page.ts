/** The end of a page: `order` takes orders, and `told` is what Playwright hears. */

import { openChannelsInPage } from '../../packages/holdfast/src/drivers/net/webrtc/page.ts'
import type { IceOptions } from '../../packages/holdfast/src/ports.ts'
import { openEnd, type Order, type Told } from './webrtc-end.ts'

const page = globalThis as unknown as {
  told: (told: Told) => void
  order: (order: Order) => void
  /** Its servers; none by default. */
  ice?: IceOptions
}
page.order = openEnd(
  (events) => openChannelsInPage(() => page.ice ?? {}, events),
  (told) => page.told(told),
)
