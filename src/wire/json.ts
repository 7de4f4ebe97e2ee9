/** Plain values as text: what actions and calls take and answer is JSON. */

/** A value as JSON; nothing is null. @throws TypeError for what JSON does not have */
export function toJson(value: unknown): string {
  const text = JSON.stringify(value ?? null) as string | undefined
  if (text === undefined) throw new TypeError(`a ${typeof value} is no plain value`)
  return text
}

/** Whether a text is JSON. */
export function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
