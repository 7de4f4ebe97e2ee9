/** The option `webrtc` of `join`. */

import { checkCount, checkFlag, checkOptions } from '../api/options.ts'
import { badValue } from '../machine.ts'
import type { IceOptions, IceServer, WebRtcOptions } from '../ports.ts'
import { shown } from '../wire/fields/fields.ts'

/** Most servers of ICE. */
const SERVERS_MAX = 8
const URL_FORM = /^(stuns?|turns?):\S{1,200}$/
const FIELDS = ['ice', 'relayOnly', 'host', 'ports'] as const

/** @returns null for no channels @throws HoldfastError `bad-value` */
export function iceOf(webrtc: boolean | WebRtcOptions = false): IceOptions | null {
  if (webrtc === false) return null
  if (webrtc === true) return {}
  checkOptions('webrtc', webrtc, FIELDS)
  const { ice = [], relayOnly = false, ports } = webrtc
  if (!Array.isArray(ice) || ice.length > SERVERS_MAX) {
    throw badValue(`webrtc.ice is at most ${SERVERS_MAX} servers: ${shown(ice)}`)
  }
  for (const server of ice) checkServer(server as IceServer)
  for (const port of ports ?? []) checkCount('webrtc.ports', port, 1, 65_535)
  return { ice, relayOnly: checkFlag('webrtc.relayOnly', relayOnly) }
}

function checkServer(server: IceServer): void {
  const urls = [server?.urls].flat()
  const isRight =
    urls.length > 0 && urls.every((url) => typeof url === 'string' && URL_FORM.test(url))
  if (isRight) return
  throw badValue(`a server of webrtc.ice has urls such as stun:example.org:3478: ${shown(server)}`)
}
