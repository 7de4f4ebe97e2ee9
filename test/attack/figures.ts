/** What a hub says of itself at `/metrics`, by name, with labels where there are some. */
export async function figuresOf(url: string): Promise<Map<string, number>> {
  const text = await (await fetch(new URL('/metrics', url))).text()
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return new Map(
    lines.map((line) => {
      const at = line.lastIndexOf(' ')
      return [line.slice(0, at), Number(line.slice(at + 1))]
    }),
  )
}
