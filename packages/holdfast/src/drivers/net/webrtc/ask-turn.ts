/**
 * Asks a TURN server for an address, to learn why it gives none (RFC 8489, RFC 8656). The library
 * on Node does not report that. An address that the server gives goes back at once.
 *
 *     Allocate                      ->
 *                                   <-  401, REALM, NONCE
 *     Allocate, signed              ->
 *                                   <-  success, or the code of a refusal
 *     Refresh for 0 s, signed       ->
 */

import { createHash, createHmac, randomBytes } from 'node:crypto'
import { createSocket } from 'node:dgram'
import { isIPv6 } from 'node:net'

/** A request is sent again after this, in ms. */
const AGAIN_MS = 500
/** Most sendings of one request. */
const SENDINGS_MAX = 5

/** A server that is asked by UDP. */
export interface TurnServer {
  readonly host: string
  readonly port: number
  readonly username: string
  readonly credential: string
}

/** With code 0 if there was no answer. */
export interface TurnRefusal {
  readonly code: number
  readonly why: string
}

/** What the server asks us to sign with. */
type Challenge = Pick<Answer, 'realm' | 'nonce'>

/** @param done  null if it gives an address */
export function askTurn(server: TurnServer, done: (refusal: TurnRefusal | null) => void): void {
  const socket = createSocket(isIPv6(server.host) ? 'udp6' : 'udp4')
  let challenge: Challenge | null = null
  let request = allocate(server, challenge)
  let sendings = 0
  const end = (refusal: TurnRefusal | null): void => {
    clearInterval(timer)
    socket.close()
    done(refusal)
  }
  const failed = (error: Error): void => end({ code: 0, why: error.message })
  const send = (): void => {
    if (++sendings > SENDINGS_MAX) end({ code: 0, why: 'it does not answer' })
    else socket.send(request)
  }
  const timer = setInterval(send, AGAIN_MS)
  // It must not keep the process.
  timer.unref()
  socket.unref()
  socket.on('error', failed)
  socket.on('message', (bytes) => {
    const answer = readAnswer(bytes, request)
    if (answer === null) return
    if (answer.code === 401 && challenge === null) {
      challenge = answer
      sendings = 0
      request = allocate(server, challenge)
      return send()
    }
    if (answer.code !== 0) return end(answer)
    socket.send(messageOf(REFRESH, [[LIFETIME, number(0)]], server, challenge), () => end(null))
  })
  socket.connect(server.port, server.host, (error?: Error) => (error ? failed(error) : send()))
}

const ALLOCATE = 0x0003
const REFRESH = 0x0004
const SUCCESS = 0x0100
const FAILURE = 0x0110
const MAGIC = 0x2112a442
const HEADER_BYTES = 20
const [USERNAME, INTEGRITY, ERROR_CODE, LIFETIME, REALM, NONCE, REQUESTED_TRANSPORT] = [
  ...[0x0006, 0x0008, 0x0009, 0x000d],
  ...[0x0014, 0x0015, 0x0019],
] as const
const UDP = 17

type Attribute = readonly [type: number, value: Buffer]

function allocate(server: TurnServer, challenge: Challenge | null): Buffer {
  return messageOf(ALLOCATE, [[REQUESTED_TRANSPORT, number(UDP * 2 ** 24)]], server, challenge)
}

function messageOf(
  method: number,
  attributes: readonly Attribute[],
  { username, credential }: TurnServer,
  challenge: Challenge | null,
): Buffer {
  const header = Buffer.concat([Buffer.alloc(4), number(MAGIC), randomBytes(12)])
  header.writeUInt16BE(method)
  if (!challenge) return whole(header, attributes)
  const { realm, nonce } = challenge
  const named: Attribute[] = [
    ...attributes,
    ...([[USERNAME, Buffer.from(username)]] as const),
    ...([[REALM, Buffer.from(realm)]] as const),
    ...([[NONCE, Buffer.from(nonce)]] as const),
  ]
  const key = createHash('md5').update(`${username}:${realm}:${credential}`).digest()
  // The length in the header counts the signature, which covers all before it.
  const unsigned = whole(header, [...named, [INTEGRITY, Buffer.alloc(20)]]).subarray(0, -24)
  const signature = createHmac('sha1', key).update(unsigned).digest()
  return whole(header, [...named, [INTEGRITY, signature]])
}

function whole(header: Buffer, attributes: readonly Attribute[]): Buffer {
  const body = attributes.flatMap(([type, value]) => {
    const head = number(type * 2 ** 16 + value.length)
    return [head, value, Buffer.alloc(-value.length & 3)]
  })
  const message = Buffer.concat([header, ...body])
  message.writeUInt16BE(message.length - HEADER_BYTES, 2)
  return message
}

function number(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

interface Answer extends TurnRefusal {
  readonly realm: string
  readonly nonce: string
}

/** Reads hostile bytes: the answer to that request, with code 0 for success; null for no answer. */
export function readAnswer(bytes: Buffer, request: Buffer): Answer | null {
  if (bytes.length < HEADER_BYTES || bytes.length !== HEADER_BYTES + bytes.readUInt16BE(2)) {
    return null
  }
  const isOurs = bytes.subarray(4, HEADER_BYTES).equals(request.subarray(4, HEADER_BYTES))
  const kind = bytes.readUInt16BE(0) - request.readUInt16BE(0)
  if (!isOurs || (kind !== SUCCESS && kind !== FAILURE)) return null
  const found = new Map<number, Buffer>()
  for (let at = HEADER_BYTES; at + 4 <= bytes.length;) {
    const [type, length] = [bytes.readUInt16BE(at), bytes.readUInt16BE(at + 2)]
    const end = at + 4 + length
    if (end > bytes.length) return null
    found.set(type, bytes.subarray(at + 4, end))
    at = end + (-length & 3)
  }
  const [realm = '', nonce = ''] = [REALM, NONCE].map((type) => found.get(type)?.toString())
  if (kind === SUCCESS) return { code: 0, why: '', realm, nonce }
  const failure = found.get(ERROR_CODE)
  if (!failure || failure.length < 4) return null
  const code = (failure[2]! & 7) * 100 + (failure[3]! % 100)
  return code < 300 ? null : { code, why: failure.subarray(4).toString(), realm, nonce }
}
