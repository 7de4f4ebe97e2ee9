/** The option `webrtc` of `join`, and what a session reports of its servers. */

import { checkCount, checkFlag, checkOptions } from '../api/options.ts'
import { badValue, HoldfastError } from '../machine.ts'
import type { IceOptions, IceRefusal, IceServer, WebRtcOptions } from '../ports.ts'
import { REASON_MAX } from '../hub-protocol/messages.ts'
import { shown } from '../wire/fields/fields.ts'
import { ICE_URL_MAX, isTurn, readIceUrl } from '../wire/text/ice-url.ts'
import { clipped, plain } from '../wire/text/plain.ts'

/** Most servers of ICE. */
const SERVERS_MAX = 8
// Roughly: the parser of addresses would be three more kilobytes in every page.
const ADDRESS_FORM = /^[0-9a-f]*[.:][0-9a-f.:]{1,43}$/i
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
  const read = urls.map(readIceUrl)
  if (urls.length === 0 || read.includes(null)) {
    const like = 'stun:example.org:3478 or turn:example.org?transport=tcp'
    throw badValue(`a server of webrtc.ice has urls such as ${like}: ${shown(server)}`)
  }
  const { username, credential } = server
  const isNamed = [username, credential].every((one) => typeof one === 'string' && one !== '')
  if (isNamed || !read.some((url) => url && isTurn(url))) return
  throw badValue(`${urls.join(', ')} of webrtc.ice needs username and credential`)
}

// The codes of wrong credentials: unauthenticated, and wrong ones.
const CREDENTIALS: readonly number[] = [401, 441]

/** The error that a session reports where a STUN or TURN server refuses it. */
export function refusedBy({ url, code, why }: IceRefusal): HoldfastError {
  const server = clipped(plain(url), ICE_URL_MAX)
  const reason = clipped(plain(why), REASON_MAX)
  if (code === 0) return new HoldfastError('unreachable', `${server} gave no address: ${reason}`)
  const cause = CREDENTIALS.includes(code) ? ': its credentials are wrong, or have ended' : ''
  return new HoldfastError('forbidden', `${server} refuses us with ${code} (${reason})${cause}`)
}
