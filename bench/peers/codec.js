/** The codecs that the bench of codecs measures against, as one module. */

export { Decoder, Encoder, schema, t } from '@colyseus/schema'
export { Packr } from 'msgpackr'
