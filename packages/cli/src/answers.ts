/** The answers of our HTTP servers. */

import { STATUS_CODES, type ServerResponse } from 'node:http'

/** Sends a complete answer. Caches must not keep it unless a header allows it. */
export function say(response: ServerResponse, status: number, type: string, text: string): void {
  response.setHeader('Content-Type', type)
  response.setHeader('Content-Length', Buffer.byteLength(text))
  response.setHeader('X-Content-Type-Options', 'nosniff')
  if (!response.hasHeader('Cache-Control')) response.setHeader('Cache-Control', 'no-store')
  response.writeHead(status).end(text)
}

/** A whole answer in JSON. */
export function sayJson(response: ServerResponse, status: number, value: unknown): void {
  say(response, status, 'application/json', JSON.stringify(value))
}

/** Sends a page that only names the error. */
export function fail(response: ServerResponse, status: number): void {
  if (response.headersSent) {
    response.destroy()
    return
  }
  const title = `${status} ${STATUS_CODES[status]}`
  const page = `<!doctype html><html lang="en"><title>${title}</title><h1>${title}</h1></html>\n`
  say(response, status, 'text/html; charset=utf-8', page)
}
