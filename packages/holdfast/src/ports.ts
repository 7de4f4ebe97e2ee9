/**
 * The ports of a runtime: time, randomness, datagrams, streams, a store. All I/O goes through these
 * interfaces: `drivers/` implements them for browsers and Node, `sim/` in virtual time.
 */

import type { HoldfastError, Millis, PeerId } from './machine.ts'

/** Time and randomness of one process. */
export interface Loop {
  /** Milliseconds since some start, with fractions; never goes backwards. */
  now(): Millis
  /** Fresh random bytes, fit for secrets (in the simulator: seeded). */
  random(count: number): Uint8Array
  /** Calls `run` right after the running code returns, before any other event. */
  soon(run: () => void): void
  /** A one-shot timer. It calls `run` once for each `set`, at or soon after that instant. */
  alarm(run: () => void): Alarm
}

/** One timer. */
export interface Alarm {
  /** Sets when to fire, replacing an earlier time; if past, at once but not in this call. */
  set(at: Millis): void
  /** Cancels the alarm. */
  cancel(): void
}

/** Longest address, in bytes: `udp:`, an IPv6 literal in brackets, a port. */
export const ADDRESS_MAX = 52
/** Largest datagram that any carrier takes, in bytes. */
export const DATAGRAM_MAX = 1232

/** Unordered, unreliable, bounded: a datagram that cannot leave at once is dropped and counted. */
export interface Datagrams {
  /** Addresses at which others reach us, best first, such as `udp:127.0.0.1:4000`; may be empty. */
  readonly addresses: readonly string[]
  /** Whether this carrier can send to that address. */
  reaches(address: string): boolean
  /** Sends at most DATAGRAM_MAX bytes and does not keep them. Never throws. */
  send(to: string, bytes: Uint8Array): void
  /** Stops sending and reporting. */
  close(): void
}

/** The events of a carrier of datagrams. */
export interface DatagramEvents {
  /** The bytes are valid only during the call. `from` is the address to reply to. */
  datagram(from: string, bytes: Uint8Array): void
  /** The system reports that nobody listens at that address any more. */
  refused(address: string): void
}

/** Opens a datagram carrier. @throws HoldfastError when the address is taken or not available */
export type OpenDatagrams = (events: DatagramEvents) => Promise<Datagrams>

/**
 * A carrier whose addresses are channels, each to one member. The two ends open one by signals,
 * which travel in messages between them. The older end offers; the other end answers.
 */
export interface Channels extends Datagrams {
  /** Offers that peer a new channel, in place of the one there is. */
  offer(peer: PeerId): void
  /** Takes a signal of that peer: hostile, and valid only during the call. */
  signal(peer: PeerId, bytes: Uint8Array): void
  /** Ends the channel to that peer, without an event. */
  drop(peer: PeerId): void
}

/** The events of a carrier of channels, none within a call of `offer` or `signal`. */
export interface ChannelEvents extends Pick<DatagramEvents, 'datagram'> {
  /** Bytes to bring to that peer, in the order of these events. */
  signal(peer: PeerId, bytes: Uint8Array): void
  /** A channel to that peer is open, under that address. */
  candidate(peer: PeerId, address: string): void
  /** That channel ended, or did not open. */
  gone(address: string): void
  /** A STUN or TURN server refuses us with that code, such as 401. Once for each. */
  refused(refusal: IceRefusal): void
}

/** Why an ICE server is of no use to us. */
export interface IceRefusal {
  /** The server's URL. */
  url: string
  /** The code of STUN (RFC 8489, RFC 8656), such as 401; 0 where none is known. */
  code: number
  /** The server's reason, or ours: hostile text. */
  why: string
}

/** A STUN or TURN server, as RTCPeerConnection takes it. */
export interface IceServer {
  /** Such as `stun:stun.example.org:3478`, or `turn:turn.example.org?transport=tcp`. */
  urls: string | string[]
  /** For TURN. */
  username?: string
  credential?: string
}

/** How WebRTC finds a path to other members. */
export interface IceOptions {
  /**
   * At most 8, besides those that the hub names. None by default: then members meet with the help
   * of the hub's servers, or where one reaches the other without help.
   */
  ice?: readonly IceServer[]
  /** Packets go through TURN servers alone, so no member learns an address of ours. */
  relayOnly?: boolean
}

/** The same, and where WebRTC listens. */
export interface WebRtcOptions extends IceOptions {
  /** On Node, the only address of this machine that takes part. Default: all but the loopback. */
  host?: string
  /** On Node, the first and the last port. Default: any. */
  ports?: readonly [number, number]
}

/**
 * Opens a carrier of channels, with the first channel that a session wants.
 *
 * @param ice  asked for each channel, since credentials are replaced
 */
export type OpenChannels = (ice: () => IceOptions, events: ChannelEvents) => Later<Channels>

/** Largest message of a stream, in bytes. */
export const STREAM_MESSAGE_MAX: number = 256 * 1024
/** Most bytes that may wait in one stream; further messages are refused. */
export const STREAM_BACKLOG_MAX: number = 4 * 1024 * 1024

/** An ordered, reliable stream of whole messages. When it closes, messages in flight are lost. */
export interface Stream {
  /** Sends a message; false, with nothing sent, if the stream is closed or its backlog is full. */
  send(bytes: Uint8Array): boolean
  /** Bytes waiting to be sent. */
  backlog(): number
  /** Closes without calling our `closed`. The other side gets `why` if the stream can carry it. */
  close(why?: Closing): void
}

/** Why a server closes a stream. */
export interface Closing {
  /**
   * `refused`: dialling again the same way fails again. `full`: a later attempt may succeed.
   * `again`: another one succeeds at once.
   */
  kind: 'refused' | 'full' | 'again'
  /** The reason as text, at most CLOSING_MAX bytes of ASCII. */
  why: string
}

/** Longest close reason, in bytes (RFC 6455, 5.5). */
export const CLOSING_MAX = 123

/** The peer that opens a stream, as the acceptor sees it. */
export interface Opening {
  /** The IP address of the other end, or of the client in front of trusted proxies. */
  remote: string
}

/** Accepts one side of a new stream. */
export type Accept = (stream: Stream, opening: Opening) => StreamEvents

/** The finding at an address that opened no stream, or closed one. */
export interface Met {
  /**
   * `wrong`: something else answers there, and will again. `denied`: the server takes streams, but
   * none of ours. `passing`: nobody answers now, or the cause is unknown.
   */
  kind: 'wrong' | 'denied' | 'passing'
  /** Whether the server ended the stream and asks for another one. */
  again?: true
  /** Text for people, shown after the address and a colon: `nobody listens there`. */
  what: string
}

/** The events of a stream, in this order: opened once, messages, closed once. */
export interface StreamEvents {
  opened(): void
  /** The receiver may keep the bytes. */
  message(bytes: Uint8Array): void
  /** The stream ended. `why` is a sentence for a log, `met` the finding there, if known. */
  closed(why: string, met?: Met): void
}

/** Starts opening a stream to a URL like `ws://127.0.0.1:8700/hub`; failure calls `closed`. */
export type Connect = (url: string, events: StreamEvents) => Stream

/** Probes a URL by other means after its stream failed to open without a reason. */
export type Look = (url: string) => Promise<Met>

/** A Node http or https server, in types that pages know, too. */
export interface HttpServer {
  listen: (...of: never[]) => unknown
  address: () => unknown
  once: (...of: never[]) => unknown
}

/** A certificate or a key in PEM. */
export type Pem = string | Uint8Array

/** A server's TLS certificate and its key. */
export interface Certificate {
  /** The server's certificate, then the intermediates in order, without the root. */
  cert: Pem
  key: Pem
}

/** An entry point for streams: its path, and the page origins it accepts besides its own. */
interface AnyDoor {
  path: string
  origins: readonly string[]
}

/** An entry point with its own port. */
export interface OwnDoor extends AnyDoor {
  port: number
  host: string
  tls: Certificate | null
}

/** An entry point on a server that others use too. */
export interface SharedDoor extends AnyDoor {
  server: HttpServer
}

/** Where to listen for streams. */
export type Door = OwnDoor | SharedDoor

/** A listener for streams. */
export interface Listening {
  /** The URL, such as `ws://127.0.0.1:8800/mail`; null while its server does not listen. */
  readonly url: string | null
  close(): void
}

/** A stored record. */
export interface StoredRecord {
  readonly value: Uint8Array
  /** Its revision, at least 1: each change of a record gives it another one. */
  readonly rev: number
}

/** A change of one record, and of the blobs that it names. */
export interface StoreChange {
  /** A store that waits for answers of others says `unknown` after this; it may do so later. */
  readonly within?: Millis
  readonly key: string
  /** The revision of the record that it replaces; 0 for none. */
  readonly rev: number
  /** Null removes the record. */
  readonly value: Uint8Array | null
  /** Blobs that are durable before the record is; null removes one once the record is changed. */
  readonly blobs: readonly (readonly [name: string, value: Uint8Array | null])[]
  /** Another record, whose blobs this new one names as well. */
  readonly from?: string
}

/**
 * The outcome of a change.
 *
 * - `{ rev }`: it is durable; the record has this revision, or 0 if it was removed.
 * - `conflict`: the record has another revision, and the change was not made.
 * - `unknown`: it may have been made, or may yet be: read the record, and look for your own change.
 * - an error `store`: it was not made and never will be; only if a sync failed, or the file or the
 *   store went away meanwhile, can the next opening find it.
 */
export type StoreOutcome = { readonly rev: number } | 'conflict' | 'unknown' | HoldfastError

/** A store of small records by key, each changed by compare-and-set on its revision. */
export interface Store {
  /** Whether other hubs may have this store at the same time. */
  readonly isShared?: boolean
  /**
   * From now on `changed` is called with each record that changes, null for a removed one: late,
   * in the order of each record's changes, and perhaps not with every one of them.
   */
  watch?(changed: (key: string, found: StoredRecord | null) => void): void
  /** All records in key order, for a start. @throws HoldfastError `store` */
  entries(): Iterable<readonly [key: string, found: StoredRecord]>
  /** Reads a record as it is once all answered changes are made; `done` is called later, once. */
  get(key: string, done: (found: StoredRecord | HoldfastError | null) => void): void
  /**
   * Reads blobs that the record of that key names, as `get` reads the record: in the order of these
   * names, null for none.
   */
  blobs(
    key: string,
    names: readonly string[],
    done: (found: (Uint8Array | null)[] | HoldfastError) => void,
  ): void
  /**
   * Changes a record if it has the given revision; `done` is called later, once. Until then the
   * store may use the given bytes. The same change may be made again after `unknown`. Changes of
   * several records may be in progress at once.
   *
   * @throws HoldfastError `bad-value` for a key, a name or a value that no store accepts; `store`
   */
  cas(change: StoreChange, done: (outcome: StoreOutcome) => void): void
  /** Tests whether the store can be written; `done` gets null or the error, later, once. */
  check(done: (error: HoldfastError | null) => void): void
  /** Closes the store. Changes in progress get the error that their durability is unknown. */
  close(): void
}

/** Reliable streams in order between the hubs of a shared store, which are named by numbers. */
export interface HubLinks {
  /** From now on this hub has that name; the streams of its former name are closed. */
  listen(boot: number, accept: (stream: Stream) => StreamEvents): void
  /** Opens a stream to another hub; `closed` is called if there is none. */
  open(boot: number, events: StreamEvents): Stream
}

/** Bytes that a letter counts besides its body: its number and its length. */
export const LETTER_OVERHEAD = 11

/** One letter of a queue. */
export interface Letter {
  /** The letter's number between these two mailboxes, from 1, without gaps. */
  n: number
  body: Uint8Array
}

/** A dead letter. */
export interface DeadLetter extends Letter {
  peer: string
  /** The error that its handler threw. */
  why: string
}

/** A life of a store, from one opening to the next, and the first letter it posted. */
export interface Life {
  first: number
  life: Uint8Array
}

/** Consecutive letters of one life, and the digest before the first. */
export interface Span {
  life: Uint8Array
  before: Uint8Array
  letters: Letter[]
}

/** A mailbox's durable numbers for one peer, and that peer's key. */
export interface MailHead {
  peer: string
  /** The number of the last letter posted to the peer. */
  posted: number
  /** The last letter the peer acked; letters up to it are no longer stored. */
  acked: number
  /** Bytes of the stored letters, each with LETTER_OVERHEAD. */
  bytes: number
  /** The number of the peer's last letter that took effect here. */
  heard: number
  /** How often the handler threw on the letter after `heard`. */
  tries: number
  /** Running digests up to the letters `posted`, `acked` and `heard`. */
  postedDigest: Uint8Array
  ackedDigest: Uint8Array
  heardDigest: Uint8Array
  /** The lives that posted letters to the peer, and those that posted from it; newest last. */
  ourLives: readonly Life[]
  theirLives: readonly Life[]
  /** The peer's known public key; null before its first letter or ack. */
  key: Uint8Array | null
  /** The first key of the chain to `key`, each signed by an earlier one; null with `key`. */
  root: Uint8Array | null
}

/** A durable change of a mailbox. */
export type MailChange =
  | {
      kind: 'posted'
      peer: string
      n: number
      body: Uint8Array
      life: Uint8Array
      digest: Uint8Array
    }
  | { kind: 'acked'; peer: string; n: number; bytes: number; digest: Uint8Array }
  | { kind: 'heard'; peer: string; n: number; life: Uint8Array; digest: Uint8Array }
  /** The peer is known by that key from now on. */
  | { kind: 'bound'; peer: string; key: Uint8Array; root: Uint8Array }
  /** `head` replaces all numbers of a peer and the letters to it; null removes them. */
  | { kind: 'begun'; peer: string; head: MailHead | null }
  | { kind: 'tried'; peer: string; n: number }
  | { kind: 'dead'; peer: string; n: number; body: Uint8Array; why: string }
  | { kind: 'buried'; peer: string; n: number }
  | { kind: 'set'; key: string; value: Uint8Array | null }

/** A value that SQL accepts and returns. */
export type SqlValue = null | number | string | Uint8Array

/** SQL in the transaction that the next `commit` ends. */
export interface MailSql {
  /** Runs one statement. @returns its rows @throws HoldfastError with the database's error */
  run(statement: string, values: readonly SqlValue[]): Record<string, SqlValue>[]
  /** Sets a savepoint. */
  savepoint(): void
  /** Releases the savepoint. */
  release(): void
  /** Rolls back to the savepoint, and releases it. */
  rollBack(): void
  /** Why a statement ended the transaction, until `abandon` begins the next one; else null. */
  readonly ended: Error | null
}

/** The stored letters. Reads return durable data. */
export interface MailShelf {
  /**
   * Letters to a peer above `after`, in order: as many of one life as fit into `bytes`, each with
   * LETTER_OVERHEAD, and at least one if there is one.
   */
  letters(peer: string, after: number, bytes: number): Span
  /** The digest of that letter to a peer; null if it is not stored. */
  mark(peer: string, n: number): Uint8Array | null
  /** Bytes of the letters to a peer above `after` up to `upTo`, with their overhead. */
  weigh(peer: string, after: number, upTo: number): number
}

/** The durable part of one mailbox. */
export interface MailStore extends MailShelf {
  /** A name for error sentences. */
  readonly name: string
  /** Names the data found damaged at opening and dropped, as a sentence; null for none. */
  readonly repaired: string | null
  /** The durable heads of all peers, in order of their ids. */
  heads(): MailHead[]
  head(peer: string): MailHead | null
  /** Dead letters, oldest first: at most `most`, after the first `skip`. Default: all. */
  dead(skip?: number, most?: number): DeadLetter[]
  deadOne(peer: string, n: number): DeadLetter | null
  get(key: string): Uint8Array | null
  /** Keys with that prefix, in order, at most `most`. Default: all. */
  keys(prefix: string, most?: number): string[]
  /** Null for a store without SQL. */
  readonly sql: MailSql | null
  /**
   * Makes all changes and the SQL effects since the last commit durable, or none; then calls `done`
   * with null or the error. One commit at a time. A failed commit abandons everything.
   */
  commit(changes: readonly MailChange[], done: (error: Error | null) => void): void
  /** Rolls back the SQL effects since the last commit. */
  abandon(): void
  /** The number of dead letters. */
  deadCount(): number
  /** Publishes figures to a program that inspects the open store; null where impossible. */
  readonly publish: ((figures: string) => void) | null
  /**
   * Copies the durable data into a new file, between transactions. @throws HoldfastError `store`
   */
  backup(to: string): void
  /** The last note of a process that died with this store open; null if it was closed. */
  readonly interrupted: string | null
  /** Notes the current work. Cheap; survives a crash of this process, not of the machine. */
  note(what: string): void
  close(): void
}

/** Reports from another thread when the loop is blocked for too long. */
export interface Watchdog {
  /** A function that may block the loop begins. */
  begin(what: string): void
  /** The function has returned. */
  end(): void
  stop(): void
}

/** Where a UDP socket listens. */
export interface UdpOptions {
  /** An IP literal of this machine; `0.0.0.0` or `::` for all of them. Default 127.0.0.1. */
  host?: string
  /** 0 takes any free port. Default 0. */
  port?: number
  /** Whether to detect closed ports, as udp-watch.ts does. Default true. */
  watch?: boolean
}

/** The environment of a runtime: a page, a Node process, a machine of the simulator. */
export interface Environment {
  kind: 'node' | 'browser'
  loop: Loop
  /** The platform's ciphers and curves; opened once, at the first call. */
  crypto(): Later<Crypto>
  connect: Connect
  /** Omitted where the errors of `connect` reveal all that can be known. */
  look?: Look
  /**
   * Sends the hub at that stream URL a last message outside the stream, as this process ends; see
   * wire/beacon.ts. False if it was not accepted. Omitted where streams deliver such messages.
   */
  beacon?(url: string, body: Uint8Array): boolean
  /**
   * The carriers besides the relay; each session opens its own. The first that reaches an address
   * sends there.
   */
  carriers: readonly OpenDatagrams[]
  /** The carrier of channels; omitted where there is none. */
  openChannels?: OpenChannels
  /** The default hub: a page's own origin; null where there is none. */
  defaultServer: string | null
  /** Reports an error that nothing else handles, thrown by a function of the game, and where. */
  report(error: unknown, where: string): void
  /** Calls `run` when this process is about to end, if that is known. @returns removes `run` */
  onEnd(run: () => void): () => void
  /** Calls `run` when the process is about to be suspended. @returns removes `run` */
  onFreeze(run: () => void): () => void
}

/** Bytes of a key of any kind. */
export const KEY_BYTES = 32
/** Bytes of a nonce. A key never seals two texts with the same nonce. */
export const CIPHER_NONCE_BYTES = 12
/** Bytes that sealing adds to a text. */
export const TAG_BYTES = 16
/** Bytes of a signature. */
export const SIGNATURE_BYTES = 64

/**
 * Synchronous ciphers: ChaCha20-Poly1305 (RFC 8439), SHA-256 and HMAC over it. None uses `this`.
 */
export interface Ciphers {
  /** The implementation's name, for people: `sodium-native`. */
  readonly name: string
  /**
   * Writes `text.length + TAG_BYTES` bytes, which fill `into`. `data` is authenticated but not
   * sealed: `open` needs the same. `into` shares no memory with the text.
   */
  seal(
    key: Uint8Array,
    nonce: Uint8Array,
    data: Uint8Array,
    text: Uint8Array,
    into: Uint8Array,
  ): void
  /**
   * Writes the text, which fills `into`.
   *
   * @returns false if authentication fails; then the contents of `into` mean nothing
   */
  open(
    key: Uint8Array,
    nonce: Uint8Array,
    data: Uint8Array,
    sealed: Uint8Array,
    into: Uint8Array,
  ): boolean
  /** 32 bytes. */
  hash(bytes: Uint8Array): Uint8Array
  /** 32 bytes. */
  hmac(key: Uint8Array, bytes: Uint8Array): Uint8Array
}

/** A value, or a promise of it where the platform is asynchronous. */
export type Later<Value> = Value | Promise<Value>

/**
 * Curves: X25519 (RFC 7748) and Ed25519 (RFC 8032). Handshakes may wait for them. Any 32 random
 * bytes are a valid secret or seed.
 */
export interface Curves {
  /** The implementation's name, for people: `WebCrypto`. */
  readonly name: string
  /**
   * The shared point of one secret and the other's public key. A secret's public key is its result
   * with BASE_POINT. Null for the few points that yield no secret.
   */
  agree(secret: Uint8Array, point: Uint8Array): Later<Uint8Array | null>
  /** The public key that verifies signatures by that seed. */
  signer(seed: Uint8Array): Later<Uint8Array>
  sign(seed: Uint8Array, message: Uint8Array): Later<Uint8Array>
  verify(signer: Uint8Array, message: Uint8Array, signature: Uint8Array): Later<boolean>
}

/** Synchronous signing, for frequent use of one seed. */
export interface SigningCurves {
  signer(seed: Uint8Array): Uint8Array
  /** A function that signs with that seed. Creating it may cost ten times a signature. */
  signing(seed: Uint8Array): (message: Uint8Array) => Uint8Array
}

/** A platform's cryptography. */
export interface Crypto {
  ciphers: Ciphers
  curves: Curves
}

/** The point of X25519 from which public keys are made (RFC 7748, 4.1). */
export const BASE_POINT: Uint8Array = Uint8Array.of(9, ...new Uint8Array(KEY_BYTES - 1))
