/** One clock for all processes of a machine: what the system counts since its start, in ms. */
export function clock(): number {
  return Number(process.hrtime.bigint()) / 1e6
}
