/** The option `webrtc` of `join`. */

import { checkCount, checkFlag, checkOptions } from '../api/options.ts'
import { badValue } from '../machine.ts'
import type { IceOptions, IceServer, WebRtcOptions } from '../ports.ts'
import { shown } from '../wire/fields/fields.ts'

/** Most servers of ICE. */
const SERVERS_MAX = 8
// Roughly: the parser of addresses would be three more kilobytes in every page.
const ADDRESS_FORM = /^[0-9a-f]*[.:][0-9a-f.:]{1,43}$/i
const URL_FORM = /^(stuns?|turns?):\S{1,200}$/
const FIELDS = ['ice', 'relayOnly', 'host', 'ports'] as const

/** @returns null for no channels @throws HoldfastError `bad-value` */
export function iceOf(webrtc: boolean | WebRtcOptions = false): IceOptions | null {
  if (webrtc === false) return null
  if (webrtc === true) return {}
  checkOptions('webrtc', webrtc, FIELDS)
  const { ice = [], relayOnly = false, host, ports } = webrtc
  if (!Array.isArray(ice) || ice.length > SERVERS_MAX) {
    throw badValue(`webrtc.ice is at most ${SERVERS_MAX} servers: ${shown(ice)}`)
  }
  for (const server of ice) checkServer(server as IceServer)
  if (ports !== undefined) checkPorts(ports)
  if (host !== undefined && !ADDRESS_FORM.test(String(host))) {
    throw badValue(`webrtc.host is an IP address of this machine: ${shown(host)}`)
  }
  return { ice, relayOnly: checkFlag('webrtc.relayOnly', relayOnly) }
}

function checkPorts(ports: unknown): void {
  const [first, last, ...more] = Array.isArray(ports) ? (ports as unknown[]) : []
  checkCount('the first of webrtc.ports', first, 1, 65_535)
  checkCount('the last of webrtc.ports', last, first as number, 65_535)
  if (more.length > 0) throw badValue(`webrtc.ports is the first and the last: ${shown(ports)}`)
}

function checkServer(server: IceServer): void {
  const urls = [server?.urls].flat()
  const isRight =
    urls.length > 0 && urls.every((url) => typeof url === 'string' && URL_FORM.test(url))
  if (isRight) return
  throw badValue(`a server of webrtc.ice has urls such as stun:example.org:3478: ${shown(server)}`)
}
