// Goal: calls between real processes on UDP: answered, or said to be of unknown fate.
// Method: three Node members; the server is killed with calls under way.
// Slow: three processes start for each test, and a death is noticed after seconds.
import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { afterEach, expect, test } from 'vitest'
import { Hub, killed } from './harness.ts'

interface Word {
  hangs?: boolean
  waits?: boolean
  entered?: boolean
  looked?: boolean
  ready?: boolean
  primary?: string
  backup?: string
  safety?: string
  members?: number
  called?: { target: string; what: string }
  answer?: string
  code?: string
  message?: string
}

const NAMES = ['a', 'b', 'c']

let hub: Hub
let children: Child[] = []
let heard = (): void => {}

/** Somebody says something. One test waits for one thing at a time. */
function something(): Promise<void> {
  return new Promise((resolve) => (heard = resolve))
}

/** One member; everything that it said is kept. */
class Child {
  readonly name: string
  readonly process: ChildProcess
  readonly #said: Word[] = []

  constructor(room: string, name: string, topology: string) {
    this.name = name
    const script = fileURLToPath(new URL('caller.js', import.meta.url))
    const stdio = ['ignore', 'ignore', 'inherit', 'ipc'] as const
    this.process = fork(script, [hub.url, room, name, topology], { stdio: [...stdio] })
    this.process.on('message', (word: Word) => {
      this.#said.push(word)
      heard()
    })
  }

  /** The next word of that kind, or one that it said already and nobody has asked for. */
  async hears(wanted: (word: Word) => boolean): Promise<Word> {
    for (;;) {
      const word = this.said(wanted)
      if (word) return word
      await something()
    }
  }

  /** The oldest word of that kind, if there is one. */
  said(wanted: (word: Word) => boolean): Word | undefined {
    const at = this.#said.findIndex(wanted)
    return at < 0 ? undefined : this.#said.splice(at, 1)[0]
  }

  look(): Promise<Word> {
    this.process.send('look')
    return this.hears((word) => word.looked === true)
  }

  call(target: string, what: string, value = 0): void {
    this.process.send({ target, what, value })
  }

  outcome(what: string, target: string): Promise<Word> {
    return this.hears(({ called }) => called?.what === what && called.target === target)
  }
}

afterEach(async () => {
  await Promise.all(children.map(({ process }) => killed(process)))
  children = []
  await hub.end()
})

/** All are in; the server first, then its backup. On a slow machine it is not the founder. */
async function start(topology: 'star' | 'mesh'): Promise<[Child, Child, Child]> {
  hub = await Hub.start()
  for (const name of NAMES) {
    const child = new Child('calls', name, topology)
    children.push(child)
    await child.hears((word) => word.entered === true)
  }
  for (const child of children) await child.hears((word) => word.ready === true)
  const { primary, backup } = await children[0]!.look()
  const rank = ({ name }: Child): number => [primary, backup, name].indexOf(name)
  return children.toSorted((one, other) => rank(one) - rank(other)) as [Child, Child, Child]
}

// On a machine that stalls another may serve by now than a moment ago.
async function whoeverHangs(): Promise<Child> {
  for (;;) {
    const found = children.find((child) => child.said(({ hangs }) => hangs === true))
    if (found) return found
    await something()
  }
}

test('B4: calls in a star are answered; the server is killed: those under way are of unknown fate', async () => {
  const [, b, c] = await start('star')
  b.call(c.name, 'double', 21)
  expect(await b.outcome('double', c.name)).toMatchObject({ answer: `${b.name}: 42 of ${c.name}` })
  c.call('primary', 'double', 4)
  const { answer } = await c.outcome('double', 'primary')
  expect(answer).toMatch(new RegExp(`^${c.name}: 8 of [abc]$`))
  b.call('primary', 'hang')
  const server = await whoeverHangs()
  b.call(c.name, 'hang')
  await c.hears(({ hangs }) => hangs === true)
  await killed(server.process)
  for (const target of ['primary', c.name]) {
    const outcome = await b.outcome('hang', target)
    expect(outcome).toMatchObject({ code: 'lost' })
    expect(outcome.message).toContain('it may have run or not')
  }
  await b.hears(({ primary, members }) => primary !== server.name && members === 2)
  b.call(c.name, 'double', 5)
  expect(await b.outcome('double', c.name)).toMatchObject({ answer: `${b.name}: 10 of ${c.name}` })
})

test('B4: in a mesh the death of the server is nothing to a call between two others', async () => {
  const [, b, c] = await start('mesh')
  b.call('primary', 'hang')
  const server = await whoeverHangs()
  c.call(b.name, 'late', 7)
  await b.hears(({ waits }) => waits === true)
  await killed(server.process)
  expect(await b.outcome('hang', 'primary')).toMatchObject({ code: 'lost' })
  b.process.send('release')
  expect(await c.outcome('late', b.name)).toMatchObject({ answer: `${c.name}: 14 of ${b.name}` })
})
