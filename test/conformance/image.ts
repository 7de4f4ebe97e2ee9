/**
 * The steps of a Dockerfile as a script, for machines without Docker: its folders lie below one of
 * ours, its packages are those of this machine.
 */

import { readFileSync } from 'node:fs'

/** What a Dockerfile says. */
export interface Image {
  /** Its steps, for `sh`; CONTEXT is the folder that it is built from. */
  script: string
  env: Record<string, string>
  /** The folder in which its program runs. */
  workdir: string
  user: string
  ports: number[]
  /** The command that says whether it is well. */
  health: string[]
  command: string[]
}

/** What each instruction does to the image. @returns its step, if it has one */
const VERBS: Record<string, (image: Image, rest: string) => string | void> = {
  FROM: () => {},
  ENV: ({ env }, rest) => {
    Object.assign(env, Object.fromEntries(rest.split(' ').map((pair) => pair.split('='))))
    return `export ${rest}`
  },
  WORKDIR: (image, rest) => {
    image.workdir = rest
    return `mkdir -p ${rest}; cd ${rest}`
  },
  COPY: (_image, rest) => copying(rest.split(' ')),
  RUN: (_image, rest) => rest,
  USER: (image, rest) => void (image.user = rest),
  EXPOSE: ({ ports }, rest) => void ports.push(...rest.split(' ').map(Number)),
  HEALTHCHECK: (image, rest) => void (image.health = words(rest.slice(rest.indexOf('[')))),
  CMD: (image, rest) => void (image.command = words(rest)),
}

/** Reads one. @param changes  what is other on this machine; each must stand there */
export function readImage(path: string, changes: Record<string, string> = {}): Image {
  const written = readFileSync(path, 'utf8')
  const gone = Object.keys(changes).find((from) => !written.includes(from))
  if (gone !== undefined) throw new Error(`${path} has nothing like ${gone}`)
  // At once, for what takes a place may have something in it that is changed, too.
  const any = Object.keys(changes).map((from) => from.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  const text = written.replaceAll(
    new RegExp(any.join('|') || '(?!)', 'g'),
    (from) => changes[from]!,
  )
  const image: Image = {
    ...{ script: 'set -eu\n', env: {}, workdir: '/', user: 'root' },
    ...{ ports: [], health: [], command: [] },
  }
  for (const line of text.split('\n')) {
    if (line === '' || line.startsWith('#')) continue
    const [, verb = '', rest = ''] = /^([A-Z]+) (.*)$/.exec(line) ?? []
    const take = VERBS[verb]
    if (!take) throw new Error(`this line of ${path} is not known here: ${line}`)
    image.script += `${take(image, rest) ?? ':'}\n`
  }
  return image
}

// A command in brackets has no shell around it.
function words(text: string): string[] {
  return JSON.parse(text) as string[]
}

/** Of a folder its content is copied. */
const COPY = `copy() {
  if [ -d "$1" ]; then mkdir -p "$2" && cp -R "$1/." "$2"; else cp "$1" "$2"; fi
}`

function copying(paths: string[]): string {
  const to = paths.at(-1)!
  const all = paths.slice(0, -1).map((from) => `"$CONTEXT"/${from}`)
  return `${COPY}\nfor each in ${all.join(' ')}; do copy "$each" ${to}; done`
}
