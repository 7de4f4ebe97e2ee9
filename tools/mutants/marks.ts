/** Where the bytes of the probes are in a worker, and how many there is room for. */

/** A name in its global scope, and in each file that has probes. */
export const PROBES = 'holdfastProbes'
/** Most statements of all modules together. */
export const PROBES_MAX = 65_536
