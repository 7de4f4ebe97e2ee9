/** Where things stand in a state that is a row of numbers. */

/** By name the first place of a thing; `size` is the length of the row. */
export type Places<Name extends string> = Readonly<Record<Name | 'size', number>>

/** Puts things one behind the other. @param widths how many numbers each takes */
export function placesOf<Name extends string>(
  widths: Readonly<Record<Name, number>>,
): Places<Name> {
  let size = 0
  const places = Object.entries<number>(widths).map(([name, width]) => {
    const at = size
    size += width
    return [name, at] as const
  })
  return Object.fromEntries([...places, ['size', size]]) as Places<Name>
}
