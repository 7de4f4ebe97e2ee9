/** Maps errors of NATS to outcomes of a change. */

import type { JetStreamApiError } from '@nats-io/jetstream'
import { HoldfastError } from '../../../../holdfast/src/machine.ts'
import { shown } from '../../../../holdfast/src/wire/fields/fields.ts'

/** JetStream's codes for a message whose expected sequence number is not the last one. */
const WRONG_LAST_SEQUENCE = [10_071, 10_164]
/** JetStream's codes for a full stream or account, and for a message that is too long. */
const FULL = [10_002, 10_023, 10_047, 10_054]
/** JetStream's code for a message that was not stored; the text says why. */
const NOT_STORED = 10_077

/** JetStream's codes for a message that is not there, and was not deleted; the text says why. */
const NO_MESSAGE = 10_043
const NOT_DELETED = 10_057

/** Whether a message was not deleted because it is not there. @param error  of the deletion */
export function isDeleted(error: unknown): boolean {
  const code = codeOf(error)
  if (code === NO_MESSAGE) return true
  return code === NOT_DELETED && /no message found|deleted/.test((error as Error).message)
}

/** Why a message was not acknowledged. */
export type Failure = 'conflict' | 'unknown' | HoldfastError

/** @param error  of a publish with an expected sequence number */
export function failureOf(error: unknown): Failure {
  if (error instanceof HoldfastError) return error
  const code = codeOf(error)
  if (code === null) return 'unknown'
  if (WRONG_LAST_SEQUENCE.includes(code)) return 'conflict'
  const isFull = code === NOT_STORED && /maximum/.test((error as Error).message)
  // After any other error of one server the others may have stored the message.
  return isFull || FULL.includes(code) ? storeError(error) : 'unknown'
}

/** The code of an error of JetStream's API; null for any other error. */
export function codeOf(error: unknown): number | null {
  const { name, code } = (error ?? {}) as Partial<JetStreamApiError>
  return API_ERRORS.includes(name ?? '') && typeof code === 'number' ? code : null
}

const API_ERRORS = ['JetStreamApiError', 'StreamNotFoundError', 'ConsumerNotFoundError']

export function storeError(error: unknown): HoldfastError {
  if (error instanceof HoldfastError) return error
  const why = error instanceof Error ? error.message || error.name : shown(error)
  return new HoldfastError('store', `NATS: ${why}`)
}
