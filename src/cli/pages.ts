/**
 * The files of one folder, read into memory once.
 *
 * A request is looked up in a map of the paths that were found, so no request, however it is
 * spelled, reaches the disk: there is nothing to traverse. The pages of our games are a few
 * megabytes; a folder beyond the limits is a mistake in the call.
 */

import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { extname, join, relative, sep } from 'node:path'
import { HoldfastError } from '../machine.ts'

/** Most files in the folder. */
const FILES_MAX = 2000
/** Most bytes in the folder. */
const BYTES_MAX = 256 * 1024 * 1024

/** Types by the ending of the name. What is not here is a run of bytes. */
const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.map': 'application/json; charset=utf-8',
  '.webmanifest': 'application/manifest+json; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
  '.svg': 'image/svg+xml; charset=utf-8',
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.gif': 'image/gif',
  '.webp': 'image/webp',
  '.avif': 'image/avif',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
  '.wasm': 'application/wasm',
  '.mp3': 'audio/mpeg',
  '.ogg': 'audio/ogg',
  '.wav': 'audio/wav',
}

/** One file as it is given out. */
export interface Page {
  body: Buffer
  type: string
  /** A strong validator, in its quotes. */
  etag: string
  /** The value of Cache-Control. */
  cache: string
}

/** The files of one folder. */
export interface Pages {
  /**
   * What stands at this path of a URL, without query: a file, a path to be asked instead (a
   * folder without its slash), or null.
   */
  find(path: string): Page | string | null
}

/**
 * Reads all files below the folder; symbolic links are left out.
 *
 * @throws HoldfastError `not-found` if there is no such folder, `full` beyond the limits
 */
export function readPages(folder: string): Pages {
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) {
    throw new HoldfastError(
      'not-found',
      `the folder of pages ${folder} does not exist; build them with 'npm run build'`,
    )
  }
  const files = new Map<string, Page>()
  let bytes = 0
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true })) {
    if (!entry.isFile()) continue
    const file = join(entry.parentPath, entry.name)
    const path = `/${relative(folder, file).split(sep).join('/')}`
    const page = readPage(file, path)
    files.set(path, page)
    bytes += page.body.length
    if (files.size > FILES_MAX || bytes > BYTES_MAX) {
      throw new HoldfastError(
        'full',
        `the folder of pages ${folder} holds more than ${FILES_MAX} files or ${BYTES_MAX} bytes`,
      )
    }
  }
  return { find: (path) => find(files, path) }
}

function readPage(file: string, path: string): Page {
  const body = readFileSync(file)
  // A name in assets/ ends with a hash of what is in it, so what it names never changes.
  const lasting = /\/assets\/[^/]*-[\w-]{8}\.\w+$/.test(path)
  return {
    body,
    type: TYPES[extname(file).toLowerCase()] ?? 'application/octet-stream',
    etag: `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`,
    cache: lasting ? 'public, max-age=31536000, immutable' : 'no-cache',
  }
}

function find(files: ReadonlyMap<string, Page>, path: string): Page | string | null {
  const decoded = decode(path)
  if (decoded === null) return null
  if (decoded.endsWith('/')) return files.get(`${decoded}index.html`) ?? null
  const file = files.get(decoded)
  if (file !== undefined) return file
  return files.has(`${decoded}/index.html`) ? `${encodeURI(decoded)}/` : null
}

function decode(path: string): string | null {
  try {
    return decodeURIComponent(path)
  } catch {
    return null
  }
}
