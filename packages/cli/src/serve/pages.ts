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
import { HoldfastError } from '../../../holdfast/src/machine.ts'

/** Most files in the folder. */
const FILES_MAX = 2000
/** Most bytes in the folder. */
const BYTES_MAX = 256 * 1024 * 1024

/** Types by the ending of the name. All other files are plain bytes. */
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

/** One file as it is sent. */
export interface Page {
  body: Buffer
  type: string
  /** A strong validator, without its quotes. */
  tag: string
  /** The value of Cache-Control. */
  cache: string
}

/** The file is at another URL. */
export interface Redirect {
  /** A URL relative to the one that was asked for, without query. */
  to: string
  /** Whether a browser may remember it. */
  lasting: boolean
}

/** The files of one folder. */
export interface Pages {
  /** The file at this path of a URL, without query; null if there is none. */
  find: (path: string) => Page | Redirect | null
  /** The folders directly in this one, and '' for itself, that have an `index.html`. */
  readonly starts: readonly string[]
}

/**
 * Reads all files below the folder; symbolic links are left out.
 *
 * @param cure  advice for the error if there is no such folder, or nothing in it
 * @throws HoldfastError `not-found` if there is no such folder or it is empty, `full` beyond the
 *   limits
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
  // A name in assets/ ends with a hash of the file, so the file of a name never changes.
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
  // Relative, for a proxy may have this server under a path that the server does not know.
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
