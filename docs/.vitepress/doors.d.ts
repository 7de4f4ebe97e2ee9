/** One door of the package. */
export interface Door {
  /** The name by which a program imports it. */
  readonly name: string
  /** The file of its source, from the root. */
  readonly file: string
  /** Its page of the site. */
  readonly page: string
}

/** The doors of the package, in the order of its exports. */
export function doors(): Door[]
