/** Hub and room of the page's address, and the player's name, which this tab remembers. */

const asked = new URLSearchParams(location.search)

/** The hub is beside the page, also below a path such as `/rt/`. */
export const server = new URL('./', location.href).href
export const room = asked.get('room') ?? 'main'
export const name = asked.get('name') ?? (sessionStorage.getItem('name') || newName())

function newName(): string {
  const made = `Guest ${Math.floor(Math.random() * 900) + 100}`
  sessionStorage.setItem('name', made)
  return made
}
