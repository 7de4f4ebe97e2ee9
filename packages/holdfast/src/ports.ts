/**
 * The ports of a runtime: time, randomness, datagrams, streams, a store.
 *
 * A clock, a random source, a socket or a disk is reached only through these interfaces. `drivers/`
 * implements them for browsers and Node, `sim/` in virtual time.
 */

import type { HoldfastError, Millis } from './machine.ts'

/** Time and randomness of one process. */
export interface Loop {
  /** Milliseconds since some start, with fractions; never goes backwards. */
  now(): Millis
  /** Fresh random bytes, fit for secrets (in the simulator: seeded). */
  random(count: number): Uint8Array
  /** Calls `run` when the running code has returned, before anything else happens. */
  soon(run: () => void): void
  /** A timer of one shot. `run` is called once for each `set`, at or soon after that instant. */
  alarm(run: () => void): Alarm
}

/** One timer. */
export interface Alarm {
  /**
   * Makes the alarm fire at this instant, replacing an earlier one; at once (not in this call) if
   * past.
   */
  set(at: Millis): void
  /** Cancels the alarm. */
  cancel(): void
}

/** Largest datagram that any carrier takes, in bytes. */
export const DATAGRAM_MAX = 1232

/** Unordered, unreliable, bounded: a datagram that cannot leave at once is dropped, counted. */
export interface Datagrams {
  /** Where others reach us, best first, such as `udp:127.0.0.1:4000`; may be empty. */
  readonly addresses: readonly string[]
  /** Whether this carrier knows how to send to such an address. */
  reaches(address: string): boolean
  /** Sends at most DATAGRAM_MAX bytes; the bytes are not kept. Never throws. */
  send(to: string, bytes: Uint8Array): void
  /** Nothing is sent or told from then on. */
  close(): void
}

/** The events of a carrier of datagrams. */
export interface DatagramEvents {
  /** The bytes are valid only during the call. `from` is an address to answer to. */
  datagram(from: string, bytes: Uint8Array): void
  /** Nobody listens at that address any more, as far as the system can tell. */
  refused(address: string): void
}

/**
 * Opens a carrier of datagrams. @throws HoldfastError when the address is taken or not available
 */
export type OpenDatagrams = (events: DatagramEvents) => Promise<Datagrams>

/** Largest message of a stream, in bytes. */
export const STREAM_MESSAGE_MAX: number = 256 * 1024
/** Most bytes that may wait in one stream; further messages are refused. */
export const STREAM_BACKLOG_MAX: number = 4 * 1024 * 1024

/**
 * A stream of whole messages, ordered and reliable until it closes; messages on their way are lost
 * then.
 */
export interface Stream {
  /**
   * Sends a message. False if the stream is closed or its backlog is full; then nothing was sent.
   */
  send(bytes: Uint8Array): boolean
  /** Bytes that wait to be sent. */
  backlog(): number
  /**
   * Closes the stream; `closed` is not called for one's own close. Where the stream can say why,
   * the other side is told.
   */
  close(why?: Closing): void
}

/** Why a server closes a stream. */
export interface Closing {
  /**
   * `refused`: to dial again is of no use as long as one does the same. `full`: later it may be.
   */
  kind: 'refused' | 'full'
  /** In words, at most CLOSING_MAX bytes of ASCII. */
  why: string
}

/** Longest reason of a close, in bytes (RFC 6455, 5.5). */
export const CLOSING_MAX = 123

/** What an acceptor knows of who opens a stream. */
export interface Opening {
  /** The IP address at its other end, or before trusted proxies. */
  remote: string
}

/** Takes one side of a new stream. */
export type Accept = (stream: Stream, opening: Opening) => StreamEvents

/** What was found at an address that opens no stream, or closed one. */
export interface Met {
  /**
   * `wrong`: something else is there, and will be when one asks again. `denied`: the server there
   * takes streams, but none of ours. `passing`: nobody answers now, or the cause is unknown.
   */
  kind: 'wrong' | 'denied' | 'passing'
  /** For people, behind the address and a colon: `nobody listens there`. */
  what: string
}

/** The events of a stream, in this order: opened once, messages, closed once. */
export interface StreamEvents {
  opened(): void
  /** The receiver may keep the bytes. */
  message(bytes: Uint8Array): void
  /** The stream has ended; `why` is a sentence for a log, `met` what was found there, if known. */
  closed(why: string, met?: Met): void
}

/** Starts to open a stream to a URL like `ws://127.0.0.1:8700/hub`; failure is `closed`. */
export type Connect = (url: string, events: StreamEvents) => Stream

/** Examines by other means the URL of a stream that does not open and gives no reason. */
export type Look = (url: string) => Promise<Met>

/** A server of Node's http or https: what there is of it in types that pages know, too. */
export interface HttpServer {
  listen: (...of: never[]) => unknown
  address: () => unknown
  once: (...of: never[]) => unknown
}

/** A certificate or a key in PEM. */
export type Pem = string | Uint8Array

/** What a server shows of who it is. */
export interface Certificate {
  /** With those between it and the root, in this order. */
  cert: Pem
  key: Pem
}

/** A door for streams: at which path, and for pages of which origins besides its own. */
interface AnyDoor {
  path: string
  origins: readonly string[]
}

/** A door at a port of its own. */
export interface OwnDoor extends AnyDoor {
  port: number
  host: string
  tls: Certificate | null
}

/** A door at a server that others use too. */
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

/** A store of small records by key, which are durable when `write` reports it. */
export interface Store {
  /** All records, in key order; with `before`, those whose keys come before it. */
  entries(before?: string): Iterable<readonly [key: string, value: Uint8Array]>
  /** The record of that key; null where there is none. @throws HoldfastError `store` */
  read(key: string): Uint8Array | null
  /**
   * Writes all of the changes or none; null removes. One write at a time: `done` is called once,
   * later, with null when all of them are durable, or with the error `store` when none is. A write
   * without changes tests whether the store can still be written.
   *
   * @throws HoldfastError `bad-value` for a key or a value that no store accepts
   */
  write(
    changes: readonly (readonly [key: string, value: Uint8Array | null])[],
    done: (error: HoldfastError | null) => void,
  ): void
  /** Closes the store. A write under way gets the error that it is not known to be durable. */
  close(): void
}

/** What a letter counts beside its body, in bytes: its number and its length. */
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

/**
 * From which letter on the letters are of one life: the time from one opening of a store to the
 * next.
 */
export interface Life {
  first: number
  life: Uint8Array
}

/** Letters of one life that follow one on the other, and the digest before the first. */
export interface Span {
  life: Uint8Array
  before: Uint8Array
  letters: Letter[]
}

/** The durable numbers of a mailbox for one other, and the other's key. */
export interface MailHead {
  peer: string
  /** The number of the last letter to it. */
  posted: number
  /** The last letter that the other mailbox acked; letters up to it are no longer kept. */
  acked: number
  /** Bytes of the letters that are kept, each with LETTER_OVERHEAD. */
  bytes: number
  /** The number of the other's last letter that took effect here. */
  heard: number
  /** How often the handler threw at the letter after that. */
  tries: number
  /** The running digests up to the letters `posted`, `acked` and `heard`. */
  postedDigest: Uint8Array
  ackedDigest: Uint8Array
  heardDigest: Uint8Array
  /** The lives that posted the letters to the other, and those from it; the newest last. */
  ourLives: readonly Life[]
  theirLives: readonly Life[]
  /** The public key that the other is known by; null before its first letter or ack. */
  key: Uint8Array | null
  /** The first of the keys that led to it, each of them signed by one before; null with `key`. */
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
  /** All numbers of a peer, and the letters to it, are replaced by `head`, or removed. */
  | { kind: 'begun'; peer: string; head: MailHead | null }
  | { kind: 'tried'; peer: string; n: number }
  | { kind: 'dead'; peer: string; n: number; body: Uint8Array; why: string }
  | { kind: 'buried'; peer: string; n: number }
  | { kind: 'set'; key: string; value: Uint8Array | null }

/** A value that SQL takes and returns. */
export type SqlValue = null | number | string | Uint8Array

/** SQL in the transaction that the next `commit` ends. */
export interface MailSql {
  /** Runs one statement. @returns its rows @throws HoldfastError with the database's error */
  run(statement: string, values: readonly SqlValue[]): Record<string, SqlValue>[]
  /** Sets a savepoint. */
  mark(): void
  /** Releases the savepoint. */
  keep(): void
  /** Rolls back to the savepoint, and releases it. */
  undo(): void
  /** Why a statement ended the transaction, which `abandon` begins anew; null if none did. */
  readonly ended: Error | null
}

/** The stored letters. Reads return durable data. */
export interface MailShelf {
  /**
   * Letters to a peer in order, those above `after`: as many of one life as fit into `bytes`,
   * each with LETTER_OVERHEAD, but one at least if there is one.
   */
  letters(peer: string, after: number, bytes: number): Span
  /** The digest of the letter of that number to a peer; null if it is not kept. */
  mark(peer: string, n: number): Uint8Array | null
  /** Bytes of the letters to a peer above `after` up to the number `upTo`, with their overhead. */
  weigh(peer: string, after: number, upTo: number): number
}

/** The durable part of one mailbox. */
export interface MailStore extends MailShelf {
  /** A name for error sentences. */
  readonly name: string
  /** The data that was found damaged at opening and left out, as a sentence; null for none. */
  readonly repaired: string | null
  /** The durable heads of all peers, in order of their ids. */
  heads(): MailHead[]
  head(peer: string): MailHead | null
  /** Dead letters, oldest first: at most `most`, after the first `skip`. Default: all. */
  dead(skip?: number, most?: number): DeadLetter[]
  deadOne(peer: string, n: number): DeadLetter | null
  get(key: string): Uint8Array | null
  /** Keys that begin with the prefix, in order, at most `most`. Default: all. */
  keys(prefix: string, most?: number): string[]
  /** Null for a store without SQL. */
  readonly sql: MailSql | null
  /**
   * Makes all changes durable, or none, with the effects of SQL since the last commit; then calls
   * `done`, with null or with the error. One commit at a time. A commit that failed has abandoned
   * all.
   */
  commit(changes: readonly MailChange[], done: (error: Error | null) => void): void
  /** Rolls back the effects of SQL since the last commit. */
  abandon(): void
  /** The number of dead letters. */
  deadCount(): number
  /** Shows figures to a program that inspects the open store; null where that is impossible. */
  readonly publish: ((figures: string) => void) | null
  /**
   * Copies the durable data into a new file, between transactions. @throws HoldfastError `store`
   */
  backup(to: string): void
  /** The last note of a process that died with this store open; null if it was closed. */
  readonly interrupted: string | null
  /**
   * Notes the work under way: the note survives this process, but not the machine. Costs little.
   */
  note(what: string): void
  close(): void
}

/** Reports from another thread that the loop is blocked for too long. */
export interface Watchdog {
  /** A function begins that may block the loop. */
  begin(what: string): void
  /** The function has returned. */
  end(): void
  stop(): void
}

/** The environment of a runtime: a page, a Node process, a machine of the simulator. */
export interface Environment {
  kind: 'node' | 'browser'
  loop: Loop
  /** The ciphers and curves of the place; opened once, at the first call. */
  crypto(): Later<Crypto>
  connect: Connect
  /** Left out where the errors of `connect` reveal all that can be known. */
  look?: Look
  /**
   * Says something to the hub at that URL of a stream, beside the stream, as this process ends; see
   * wire/beacon.ts. False if it was not taken. Left out where streams deliver what is said then.
   */
  beacon?(url: string, body: Uint8Array): boolean
  /** Carriers besides the relay, best first; each is opened anew for every session. */
  carriers: readonly OpenDatagrams[]
  /** The default hub: a page's own origin; null where there is none. */
  defaultServer: string | null
  /** Reports an error that nothing else handles: a function of the game threw, and where. */
  report(error: unknown, where: string): void
  /** Calls `run` when this process is about to end, if that can be known. @returns removes it */
  onEnd(run: () => void): () => void
  /** Calls `run` when the process is about to be stopped for a while. @returns removes it */
  onFreeze(run: () => void): () => void
}

/** Bytes of a key, of whatever kind. */
export const KEY_BYTES = 32
/** Bytes of a nonce: no two texts are sealed under one key with the same. */
export const CIPHER_NONCE_BYTES = 12
/** How many bytes longer sealed text is. */
export const TAG_BYTES = 16
/** Bytes of a signature. */
export const SIGNATURE_BYTES = 64

/**
 * Ciphers that do not wait: ChaCha20-Poly1305 (RFC 8439), SHA-256, and HMAC over it. Functions,
 * none of which needs the object that it was taken from.
 */
export interface Ciphers {
  /** Whose they are, for people: `sodium-native`. */
  readonly name: string
  /**
   * Writes `text.length + TAG_BYTES` bytes, all that `into` has room for. `data` is not sealed,
   * but the same must be said to open them. `into` shares no memory with the text.
   */
  seal(
    key: Uint8Array,
    nonce: Uint8Array,
    data: Uint8Array,
    text: Uint8Array,
    into: Uint8Array,
  ): void
  /**
   * Writes the text, all that `into` has room for.
   *
   * @returns false if not just these bytes were sealed so; then nothing in `into` means anything
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

/** A value, or where the platform makes one wait for it, the promise of one. */
export type Later<Value> = Value | Promise<Value>

/**
 * Curves: X25519 (RFC 7748) and Ed25519 (RFC 8032). A handshake may wait for them. Any 32 random
 * bytes are a secret or a seed.
 */
export interface Curves {
  /** Whose they are, for people: `WebCrypto`. */
  readonly name: string
  /**
   * The point that two secrets have in common, from one and the other's public key. A secret's
   * public key is what it makes of BASE_POINT. Null for the few points that give nothing secret.
   */
  agree(secret: Uint8Array, point: Uint8Array): Later<Uint8Array | null>
  /** The public key to check signatures of that seed by. */
  signer(seed: Uint8Array): Later<Uint8Array>
  sign(seed: Uint8Array, message: Uint8Array): Later<Uint8Array>
  verify(signer: Uint8Array, message: Uint8Array, signature: Uint8Array): Later<boolean>
}

/** Curves that make nobody wait, for who signs much by one seed. */
export interface SigningCurves {
  signer(seed: Uint8Array): Uint8Array
  /** What signs by that seed. Making it may cost ten times what a signature does. */
  signing(seed: Uint8Array): (message: Uint8Array) => Uint8Array
}

/** What a place computes with. */
export interface Crypto {
  ciphers: Ciphers
  curves: Curves
}

/** The point of X25519 from which public keys are made (RFC 7748, 4.1). */
export const BASE_POINT: Uint8Array = Uint8Array.of(9, ...new Uint8Array(KEY_BYTES - 1))
