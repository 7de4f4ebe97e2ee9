/**
 * The signals by which two members open a WebRTC channel (section 3.1 of docs/STANDARD.md).
 *
 * A signal has what the ends cannot know of each other, and no SDP: each end writes the SDP for its
 * own library from checked fields. So a hostile peer reaches no parser of SDP, names no host but by
 * its address, and adds no media.
 *
 * The offerer is the client of DTLS: it begins once it has the answer, when both ends are ready.
 */

import { readRange } from '../../../wire/text/ip.ts'
import {
  decode,
  encode,
  fixed,
  message,
  record,
  text,
  u16,
  u32,
  type ValueOf,
  varint,
  word,
} from '../../../wire/layout.ts'

/** Longest user name of ICE, its password, and the foundation of a candidate, in bytes. */
export const ICE_UFRAG_MAX = 32
export const ICE_PWD_MAX = 64
export const ICE_FOUNDATION_MAX = 32
/** Longest address of a candidate, in bytes: `<UUID>.local`, or an IPv6 literal. */
export const ICE_HOST_MAX = 45

const described = {
  generation: varint,
  ufrag: text(ICE_UFRAG_MAX),
  pwd: text(ICE_PWD_MAX),
  fingerprint: fixed(32),
}
export const signalLayout = message({
  offer: [1, record(described)],
  answer: [2, record(described)],
  candidate: [
    3,
    record({
      generation: varint,
      foundation: text(ICE_FOUNDATION_MAX),
      priority: u32,
      host: text(ICE_HOST_MAX),
      port: u16,
      type: word(['host', 'srflx', 'prflx', 'relay']),
    }),
  ],
})
export type Signal = ValueOf<typeof signalLayout>
export type SignalOf<Kind extends Signal['kind']> = Signal & { kind: Kind }

// The characters of RFC 8839, and the names by which pages hide their addresses.
const ICE = /^[A-Za-z0-9+/]+$/
const LITERAL = /^[0-9a-f:.]+$/i
const HIDDEN = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\.local$/

export function writeSignal(signal: Signal): Uint8Array {
  return encode(signalLayout, signal)
}

/** Reads a hostile signal; null if it is malformed, or would say more in SDP than its fields. */
export function readSignal(bytes: Uint8Array): Signal | null {
  const signal = decode(signalLayout, bytes)
  return signal && isClean(signal) ? signal : null
}

function isClean(signal: Signal): boolean {
  if (signal.kind !== 'candidate') {
    const { ufrag, pwd } = signal
    return ufrag.length >= 4 && pwd.length >= 22 && ICE.test(ufrag) && ICE.test(pwd)
  }
  const { foundation, host, port } = signal
  const isLiteral = LITERAL.test(host) && readRange(host) !== null
  return port > 0 && ICE.test(foundation) && (isLiteral || HIDDEN.test(host))
}

/** The description for a library: of the peer, from its offer or its answer. */
export function sdpOf({ kind, ufrag, pwd, fingerprint }: SignalOf<'offer' | 'answer'>): string {
  const pairs = Array.from(fingerprint, (byte) => byte.toString(16).padStart(2, '0').toUpperCase())
  const lines = [
    ...['v=0', 'o=- 1 1 IN IP4 127.0.0.1', 's=-', 't=0 0', 'a=group:BUNDLE 0'],
    ...['m=application 9 UDP/DTLS/SCTP webrtc-datachannel', 'c=IN IP4 0.0.0.0', 'a=mid:0'],
    ...['a=sctp-port:5000', 'a=max-message-size:262144', 'a=ice-options:trickle'],
    `a=setup:${kind === 'offer' ? 'active' : 'passive'}`,
    `a=ice-ufrag:${ufrag}`,
    `a=ice-pwd:${pwd}`,
    `a=fingerprint:sha-256 ${pairs.join(':')}`,
  ]
  return `${lines.join('\r\n')}\r\n`
}

const FINGERPRINT = /^a=fingerprint:sha-256 ((?:[0-9A-F]{2}:){31}[0-9A-F]{2})\r?$/im

/** The fields that the peer needs of our library's SDP; null if that lacks one of them. */
export function signalOf(
  kind: 'offer' | 'answer',
  generation: number,
  sdp: string,
): SignalOf<'offer' | 'answer'> | null {
  const [, ufrag] = /^a=ice-ufrag:(.+?)\r?$/m.exec(sdp) ?? []
  const [, pwd] = /^a=ice-pwd:(.+?)\r?$/m.exec(sdp) ?? []
  const [, pairs] = FINGERPRINT.exec(sdp) ?? []
  if (ufrag === undefined || pwd === undefined || pairs === undefined) return null
  const fingerprint = Uint8Array.from(pairs.split(':'), (pair) => Number.parseInt(pair, 16))
  const signal = { kind, generation, ufrag, pwd, fingerprint }
  return isClean(signal) && ufrag.length <= ICE_UFRAG_MAX && pwd.length <= ICE_PWD_MAX
    ? signal
    : null
}

/** A candidate as libraries take it. */
export function lineOf(candidate: SignalOf<'candidate'>): string {
  const { foundation, priority, host, port, type } = candidate
  const related = type === 'host' ? '' : ' raddr 0.0.0.0 rport 0'
  return `candidate:${foundation} 1 UDP ${priority} ${host} ${port} typ ${type}${related}`
}

const LINE =
  /^candidate:(\S{1,32}) 1 udp (\d{1,10}) (\S{1,45}) (\d{1,5}) typ (host|srflx|prflx|relay)\b/i

/** Our library's candidate for the peer; null if it is none over UDP. */
export function candidateOf(generation: number, line: string): SignalOf<'candidate'> | null {
  const [, foundation = '', priority, host = '', port, word] = LINE.exec(line) ?? []
  if (word === undefined) return null
  const type = word.toLowerCase() as SignalOf<'candidate'>['type']
  const at = { priority: Number(priority), host, port: Number(port), type }
  const signal = { kind: 'candidate', generation, foundation, ...at } as const
  return at.priority < 2 ** 32 && at.port < 2 ** 16 && isClean(signal) ? signal : null
}
