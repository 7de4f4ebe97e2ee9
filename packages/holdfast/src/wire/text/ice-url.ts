/**
 * The URLs of STUN and TURN servers (RFC 7064, RFC 7065), as RTCPeerConnection takes them:
 * `stun:example.org`, `turn:example.org:3478?transport=tcp`, `turns:[2001:db8::1]`.
 *
 * A page's connection throws for one that it cannot read, so each is checked where it comes in.
 */

/** Longest URL, in bytes. */
export const ICE_URL_MAX = 200

/** What such a URL says. */
export interface IceUrl {
  readonly scheme: 'stun' | 'stuns' | 'turn' | 'turns'
  /** A name or an IP address, without brackets. */
  readonly host: string
  readonly port: number
  readonly transport: 'udp' | 'tcp'
}

const FORM =
  /^(stuns?|turns?):([a-z0-9._-]+|\[[0-9a-f:.]+\])(?::(\d{1,5}))?(?:\?transport=(udp|tcp))?$/i
const PORT = 3478
const TLS_PORT = 5349

/** Reads one; null if it is none. */
export function readIceUrl(url: unknown): IceUrl | null {
  if (typeof url !== 'string' || url.length > ICE_URL_MAX) return null
  const [, word = '', host, digits, given] = FORM.exec(url) ?? []
  const scheme = word.toLowerCase() as IceUrl['scheme']
  const isTls = scheme.endsWith('s')
  const port = digits === undefined ? (isTls ? TLS_PORT : PORT) : Number(digits)
  // STUN names no transport.
  const isOne = host !== undefined && (given === undefined || scheme.startsWith('turn'))
  if (!isOne || port < 1 || port > 65_535) return null
  const transport = (given?.toLowerCase() ?? (isTls ? 'tcp' : 'udp')) as IceUrl['transport']
  return { scheme, host: host.replace(/^\[|\]$/g, ''), port, transport }
}

export function isTurn({ scheme }: IceUrl): boolean {
  return scheme === 'turn' || scheme === 'turns'
}
