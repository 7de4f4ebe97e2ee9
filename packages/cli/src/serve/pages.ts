/**
 * The files of one folder, read into memory once.
 *
 * Requests are looked up in a map of the found paths and never reach the disk, so path traversal is
 * impossible. Our games' pages are a few megabytes; a larger folder is a mistaken call.
 */

import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { extname, join, relative, sep } from 'node:path'
import { HoldfastError } from '../../../holdfast/src/machine.ts'

const FILES_MAX = 2000
const BYTES_MAX = 256 * 1024 * 1024

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.map': 'application/json; charset=utf-8',
  '.webmanifest': 'application/manifest+json; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
  '.xml': 'application/xml; charset=utf-8',
  '.svg': 'image/svg+xml; charset=utf-8',
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.gif': 'image/gif',
  '.webp': 'image/webp',
  '.avif': 'image/avif',
  '.ico': 'image/x-icon',
  '.woff': 'font/woff',
  '.woff2': 'font/woff2',
  '.ttf': 'font/ttf',
  '.otf': 'font/otf',
  '.wasm': 'application/wasm',
  '.gltf': 'model/gltf+json',
  '.glb': 'model/gltf-binary',
  '.mp3': 'audio/mpeg',
  '.m4a': 'audio/mp4',
  '.ogg': 'audio/ogg',
  '.opus': 'audio/ogg',
  '.wav': 'audio/wav',
  '.mp4': 'video/mp4',
  '.webm': 'video/webm',
  '.pdf': 'application/pdf',
}

export interface Page {
  body: Buffer
  type: string
  /** A strong ETag, without its quotes. */
  tag: string
  /** The value of Cache-Control. */
  cache: string
}

export interface Redirect {
  /** Relative to the requested URL, without query. */
  to: string
  /** Whether browsers may cache it. */
  lasting: boolean
}

/** The files of one folder. */
export interface Pages {
  /** The file at a URL path, without query; null for none. */
  find: (path: string) => Page | Redirect | null
  /** Its direct subfolders with an `index.html`, and '' if the folder itself has one. */
  readonly starts: readonly string[]
}

/**
 * Reads all files below the folder, except symbolic links.
 *
 * @param cure  advice for the error if the folder is missing or empty
 * @throws HoldfastError `not-found` if the folder is missing or empty, `full` beyond the limits
 */
export function readPages(folder: string, cure: string): Pages {
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) {
    throw new HoldfastError('not-found', `there is no folder of pages ${folder}: ${cure}`)
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
  if (files.size > 0) return { find: (path) => find(files, path), starts: startsOf(files) }
  throw new HoldfastError('not-found', `the folder of pages ${folder} is empty: ${cure}`)
}

function readPage(file: string, path: string): Page {
  const body = readFileSync(file)
  // Names in assets/ end with a content hash, so such a file never changes.
  const lasting = /\/assets\/[^/]*-[\w-]{8}\.\w+$/.test(path)
  return {
    body,
    type: TYPES[extname(file).toLowerCase()] ?? 'application/octet-stream',
    tag: createHash('sha256').update(body).digest('base64url').slice(0, 22),
    cache: lasting ? 'public, max-age=31536000, immutable' : 'no-cache',
  }
}

function startsOf(files: ReadonlyMap<string, Page>): string[] {
  return [...files.keys()].flatMap((path) => {
    const [, folder] = /^\/(?:([^/]+)\/)?index\.html$/.exec(path) ?? [null, null]
    return folder === null ? [] : [folder ?? '']
  })
}

function find(files: ReadonlyMap<string, Page>, path: string): Page | Redirect | null {
  const decoded = decode(path)
  if (decoded === null) return null
  if (decoded.endsWith('/')) return files.get(`${decoded}index.html`) ?? null
  const file = files.get(decoded)
  if (file !== undefined) return file
  if (!files.has(`${decoded}/index.html`)) return null
  // Relative, since a proxy may serve this server under an unknown path.
  const name = decoded.slice(decoded.lastIndexOf('/') + 1)
  return { to: `./${encodeURIComponent(name)}/`, lasting: true }
}

function decode(path: string): string | null {
  try {
    return decodeURIComponent(path)
  } catch {
    return null
  }
}
