/**
 * Sequence numbers: 16 bits on the wire, plain growing numbers in memory.
 *
 * Reading unwraps the numbers, so no other code compares wrapped ones. That is safe while the two
 * ends are less than half the modulus apart, which the sender's window guarantees.
 */

/** How many sequence numbers 16 bits distinguish. */
export const SEQUENCE_MODULUS = 65536

/**
 * The plain number nearest to `near` whose low bits are `low`; exactly half way counts as behind.
 * Both `near` and the result may be negative before anything was received.
 */
export function unwrap(low: number, near: number, modulus: number = SEQUENCE_MODULUS): number {
  const ahead = wrap(low - near, modulus)
  return ahead < modulus / 2 ? near + ahead : near + ahead - modulus
}

/** The low bits of a plain number: 0 to modulus - 1, for negative ones too. */
export function wrap(sequence: number, modulus: number = SEQUENCE_MODULUS): number {
  const rest = sequence % modulus
  return rest < 0 ? rest + modulus : rest
}
