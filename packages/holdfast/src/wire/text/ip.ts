/** IP addresses as text: which count as one place, and which client sent a proxied request. */

/** Longest address text that is distinguished from others. */
const TEXT_MAX = 64
/** Most entries of `X-Forwarded-For` that are read, from the right. */
const HOPS_MAX = 32
/** The place of streams with an unknown address. */
export const NOWHERE = 'unknown'

/** 16-bit parts: eight of an IPv6 address, or of an IPv4 address in its mapped form. */
type Parts = readonly number[]

const MAPPED: Parts = [0, 0, 0, 0, 0, 0xffff]
/** Translators put IPv4 addresses after this prefix (RFC 6052). */
const TRANSLATED: Parts = [0x64, 0xff9b, 0, 0, 0, 0]

/**
 * The place of an address: a whole IPv4 address, or the first 64 bits of an IPv6 one, because the
 * holder of one address there has them all. Link-local addresses (`fe80::`) share these bits, so
 * each counts whole. Any other text is its own place.
 */
export function placeOf(address: string): string {
  const parts = partsOf(address)
  if (!parts) return address.slice(0, TEXT_MAX) || NOWHERE
  if (begins(parts, MAPPED) || begins(parts, TRANSLATED)) {
    return parts
      .slice(6)
      .flatMap((part) => [part >> 8, part & 0xff])
      .join('.')
  }
  const isLocal = (parts[0]! & 0xffc0) === 0xfe80
  const own = isLocal ? parts : parts.slice(0, 4)
  return `${own.map((part) => part.toString(16)).join(':')}${isLocal ? '' : '::/64'}`
}

/** The proxies trusted to name a request's client: this many, or those in these ranges. */
export type Trust = number | readonly Range[]

/** Addresses that begin with the same bits. */
export interface Range {
  parts: Parts
  bits: number
}

export const NOBODY: Trust = 0

/** Reads `10.0.0.0/8`, `::1`, `192.168.1.7`; null for anything else. */
export function readRange(text: string): Range | null {
  const [address = '', length, ...rest] = text.split('/')
  const parts = partsOf(address)
  if (!parts || rest.length > 0) return null
  if (length === undefined) return { parts, bits: 128 }
  // An IPv4 range's length counts from the address's offset in its mapped form.
  const before = address.includes(':') ? 0 : 96
  const bits = /^\d{1,3}$/.test(length) ? Number(length) + before : Infinity
  return bits <= 128 ? { parts, bits } : null
}

/** Whether this peer is trusted to name a request's client. */
export function isTrusted(peer: string, trust: Trust): boolean {
  if (typeof trust === 'number') return trust > 0
  const parts = partsOf(peer)
  return parts !== null && trust.some((range) => isIn(parts, range))
}

/**
 * The address that a request came from: the peer's, or if trusted proxies forward it, the last
 * address in `X-Forwarded-For` that is not a trusted proxy's. Anybody may have written the entries
 * left of it.
 */
export function clientOf(peer: string, forwarded: string | undefined, trust: Trust): string {
  const entries = forwarded?.split(',').slice(-HOPS_MAX).map(bare).toReversed() ?? []
  let client = peer
  for (const [hop, address] of entries.entries()) {
    const goesOn = typeof trust === 'number' ? hop < trust : isTrusted(client, trust)
    if (!goesOn || partsOf(address) === null) break
    client = address
  }
  return client
}

// Some proxies append the port and put IPv6 in brackets.
function bare(entry: string): string {
  const text = entry.trim()
  const [, inner] = /^\[([^\]]*)\](?::\d+)?$/.exec(text) ?? []
  return inner ?? text.replace(/^(\d+\.\d+\.\d+\.\d+):\d+$/, '$1')
}

function isIn(parts: Parts, range: Range): boolean {
  for (let at = 0; at * 16 < range.bits; at++) {
    const mask = 0xffff0000 >> Math.min(16, range.bits - at * 16)
    if (((parts[at]! ^ range.parts[at]!) & mask & 0xffff) !== 0) return false
  }
  return true
}

function begins(parts: Parts, prefix: Parts): boolean {
  return prefix.every((part, at) => parts[at] === part)
}

/** The eight parts of an address, IPv4 in mapped form; null if it is invalid. */
function partsOf(text: string): number[] | null {
  if (text.length > TEXT_MAX) return null
  const [plain = ''] = text.split('%', 1)
  if (!plain.includes(':')) {
    const four = fourOf(plain)
    return four && [...MAPPED, ...four]
  }
  const halves = plain.split('::')
  if (halves.length > 2) return null
  const [head, tail] = halves.map((half) => (half === '' ? [] : groupsOf(half)))
  if (!head || tail === null) return null
  if (tail === undefined) return head.length === 8 ? head : null
  const gap = 8 - head.length - tail.length
  return gap >= 1 ? [...head, ...Array<number>(gap).fill(0), ...tail] : null
}

function groupsOf(text: string): number[] | null {
  const found: number[] = []
  const groups = text.split(':')
  for (const [at, group] of groups.entries()) {
    const four = at === groups.length - 1 ? fourOf(group) : null
    if (four) found.push(...four)
    else if (/^[0-9a-f]{1,4}$/i.test(group)) found.push(parseInt(group, 16))
    else return null
  }
  return found
}

function fourOf(text: string): [number, number] | null {
  const bytes = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/.exec(text)?.slice(1).map(Number)
  if (!bytes || bytes.some((byte) => byte > 255)) return null
  return [bytes[0]! * 256 + bytes[1]!, bytes[2]! * 256 + bytes[3]!]
}
