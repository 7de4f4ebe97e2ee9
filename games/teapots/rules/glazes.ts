/** The glazes a pot may have, as CSS colours. The place in the list is what the wire says. */

export interface Glaze {
  name: string
  colour: string
}

export const GLAZES: readonly Glaze[] = [
  { name: 'Poppy', colour: '#d94f43' },
  { name: 'Delft', colour: '#3f74c9' },
  { name: 'Celadon', colour: '#5ea57d' },
  { name: 'Saffron', colour: '#e3a72f' },
  { name: 'Plum', colour: '#8457a6' },
  { name: 'Rose', colour: '#df7f9d' },
  { name: 'Teal', colour: '#2b9a9f' },
  { name: 'Apricot', colour: '#e68450' },
  { name: 'Sky', colour: '#79b4e2' },
  { name: 'Moss', colour: '#8c9b3f' },
  { name: 'Cocoa', colour: '#80573f' },
  { name: 'Coal', colour: '#4a505c' },
]

/** The glaze of that number; any number has one. */
export function glazeOf(number: number): Glaze {
  return GLAZES[number % GLAZES.length]!
}
