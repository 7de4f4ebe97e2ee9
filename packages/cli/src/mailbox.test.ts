// Goal: letters from a terminal.
// Method: the built program, as somebody would call it.
// Slow: each case starts the program anew, some of them several times.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { handshakeLayout, MAIL_VERSION } from '../../mailbox/src/machine/messages.ts'
import { openMailbox } from '../../mailbox/src/index.ts'
import { decode, encode } from '../../holdfast/src/wire/layout.ts'

const CLI = fileURLToPath(new URL('../../holdfast/dist/cli/src/holdfast.js', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'holdfast-cli-'))
const at = (name: string): string => join(folder, name)
const children: ChildProcess[] = []

beforeAll(() => {
  if (!existsSync(CLI)) throw new Error('run `npx tsc -b` first: child processes need dist/')
})
afterAll(() => {
  for (const child of children) child.kill('SIGKILL')
  rmSync(folder, { recursive: true, force: true })
})

function holdfast(
  words: string[],
  input = '',
): { status: number | null; out: string; err: string } {
  const options = { encoding: 'utf8', input, timeout: 60_000 } as const
  const { status, stdout, stderr } = spawnSync(process.execPath, [CLI, ...words], options)
  return { status, out: stdout, err: stderr }
}

test('letters go from one terminal to another, and what is where can be seen', async () => {
  const words = ['mailbox', 'serve', '--id', 'bob', '--store', at('bob.db'), '--port', '0']
  const bob = spawn(process.execPath, [CLI, ...words])
  children.push(bob)
  const came: string[] = []
  createInterface({ input: bob.stdout }).on('line', (line) => came.push(line))
  const [hello] = (await once(createInterface({ input: bob.stderr }), 'line')) as [string]
  const [, url] = /accepts letters at (\S+)\. Press Ctrl-C/.exec(hello) ?? []
  const from = ['--id', 'alice', '--store', at('alice.db'), '--peer', `bob=${url}`]
  // The children run while this process waits for them.
  const sent = await new Promise<string>((resolve) => {
    const child = spawn(process.execPath, [CLI, 'mailbox', 'send', 'bob', ...from])
    let text = ''
    child.stderr.on('data', (bytes: Buffer) => (text += bytes.toString()))
    child.on('close', () => resolve(text))
    child.stdin.end(Array.from({ length: 50 }, (_, i) => `{"i":${i}}`).join('\n'))
  })
  expect(sent).toContain('50 letters for bob are stored')
  expect(sent).toContain('50 of 50 acknowledged by bob')
  bob.kill('SIGTERM')
  await once(bob, 'exit')
  expect(came).toEqual(
    Array.from({ length: 50 }, (_, i) => JSON.stringify({ from: 'alice', body: { i } })),
  )
  expect(holdfast(['mailbox', 'inspect', '--store', at('alice.db')]).out).toBe(
    'bob: 50 posted, 50 acked, none waiting; 0 of theirs took effect\n',
  )
})

/** Greets by hand under a name that no mailbox of ours would have. @returns the answer */
async function greetAs(url: string, from: string): Promise<string> {
  const socket = new WebSocket(url)
  await once(socket, 'open')
  const [nonce, book] = [new Uint8Array(16), new Uint8Array(16)]
  const open = { kind: 'open', version: MAIL_VERSION, from, to: 'bob', nonce, book } as const
  socket.send(encode(handshakeLayout, open))
  const [answer] = (await once(socket, 'message')) as [Buffer]
  const read = decode(handshakeLayout, new Uint8Array(answer))
  return read?.kind === 'refused' ? read.why : 'taken'
}

test('what strangers say moves no terminal: names are refused or escaped, letters are JSON (SE-19)', async () => {
  const words = ['mailbox', 'serve', '--id', 'bob', '--store', at('wild.db'), '--port', '0']
  const bob = spawn(process.execPath, [CLI, ...words])
  children.push(bob)
  let all = ''
  for (const stream of [bob.stdout, bob.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => (all += text))
  }
  const says = (pattern: RegExp): Promise<void> =>
    expect.poll(() => all, { interval: 5 }).toMatch(pattern)
  await says(/accepts letters at \S+\. Press Ctrl-C/)
  const [, url = ''] = /accepts letters at (\S+)\. /.exec(all)!
  const name = '\u001B]0;owned\u0007\u001B[2J\nroot is here'
  expect(await greetAs(url, name)).toBe('this is no valid name of a mailbox')
  const eve = await openMailbox({ id: 'eve\u202Eereh si toor', store: null, peers: { bob: url } })
  await eve.to('bob').post('\u009B2J\nroot')
  await says(/^\{"from":"eve\\u202eereh si toor","body":"\\u009b2J\\nroot"\}$/m)
  await says(/^"eve\\u202eereh si toor" connected$/m)
  await eve.close()
  await says(/^eve\\u202eereh si toor: /m)
  expect(all.replaceAll('\n', '')).not.toMatch(/[\p{Control}\p{Format}]/u)
  expect(all).not.toMatch(/^root/m)
})

test('letters that were set aside are listed, released and discarded', async () => {
  const eve = await openMailbox({
    id: 'eve',
    store: at('eve.db'),
    triesMax: 1,
    onPoison: 'setAside',
  })
  const bob = await openMailbox({ id: 'bob', store: null })
  eve.on('letter', () => {
    throw new Error('no')
  })
  for (const body of ['one', 'two']) await bob.to('eve').post(body)
  await eve.take('bob', bob.batch('eve', 0))
  await eve.close()
  await bob.close()
  const dead = (...more: string[]): ReturnType<typeof holdfast> =>
    holdfast(['mailbox', 'dead', '--store', at('eve.db'), ...more])
  expect(dead().out).toBe('bob/1: no: "one"\nbob/2: no: "two"\n')
  expect(dead('--release', 'bob/1').out).toBe('{"from":"bob","body":"one"}\n')
  expect(dead('--discard', 'bob/2').out).toBe('')
  expect(dead().out).toBe('no dead letters\n')
  expect(dead('--discard', 'bob/2').err).toContain('bob/2 is no dead letter')
})

test('a store that was put back is told, adopted or forgotten, from a terminal (MB-13)', async () => {
  const bob = await openMailbox({ id: 'bob', store: at('bob2.db'), listen: { port: 0 } })
  const took: unknown[] = []
  bob.on('letter', (_tx, _from, body) => took.push(body))
  const store = ['--store', at('carol.db')]
  const from = ['--id', 'carol', ...store, '--peer', `bob=${bob.url}`]
  const run = (...words: string[]): Promise<string> =>
    new Promise((resolve) => {
      const child = spawn(process.execPath, [CLI, 'mailbox', ...words])
      let text = ''
      for (const stream of [child.stdout, child.stderr]) {
        stream.on('data', (bytes: Buffer) => (text += bytes.toString()))
      }
      child.on('close', () => resolve(text))
    })
  await run('send', 'bob', 'one', ...from)
  expect(await run('backup', at('copy.db'), ...store)).toContain('was copied to')
  await run('send', 'bob', 'two', ...from)
  copyFileSync(at('copy.db'), at('carol.db'))
  await run('send', 'bob', 'other two', '--no-wait', '--id', 'carol', ...store)
  const told = await run('adopt', 'bob', ...from)
  expect(told).toContain('bob has another letter 2 than this mailbox posted to it')
  expect(told).toContain('letters 2 to 2 to bob are sent again, under new numbers')
  expect(told).toContain('bob was adopted')
  expect(await run('send', 'bob', 'three', ...from)).toContain('2 of 2 acknowledged by bob')
  expect(took).toEqual(['one', 'two', 'other two', 'three'])
  expect(await run('forget', 'bob', ...store)).toBe('bob is forgotten, with 0 letters to it\n')
  expect(await run('forget', 'bob', ...store)).toContain('nothing is known of bob')
  await bob.close()
})

test('a mailbox that is open is inspected all the same (MB-28)', async () => {
  const box = await openMailbox({ id: 'open', store: at('open.db') })
  await box.to('bob').post('one')
  const shown = (): boolean => existsSync(`${at('open.db')}-figures`)
  while (!shown()) await new Promise((turn) => setImmediate(turn))
  expect(holdfast(['mailbox', 'inspect', '--store', at('open.db')]).out).toBe(
    'open is open; 1 peers, 0 dead letters\n' +
      'bob: not connected, 1 posted, 0 acked, 1 waiting (25 bytes); 0 of theirs took effect\n',
  )
  expect(box.metrics()).toContain('holdfast_mailbox_waiting{box="open",peer="bob"} 1\n')
  await box.close()
  expect(shown()).toBe(false)
})

/** The key that a store has, or by which it knows somebody. */
function keyIn(store: string, ...more: string[]): string {
  return holdfast(['mailbox', 'key', ...more, '--store', at(store)]).out.trim()
}

/** A mailbox that listens. @returns where, and its key */
async function serving(
  ...words: string[]
): Promise<{ child: ChildProcess; url: string; key: string }> {
  const child = spawn(process.execPath, [CLI, 'mailbox', 'serve', ...words, '--port', '0'])
  children.push(child)
  let all = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (all += text))
  const says = (pattern: RegExp): Promise<void> =>
    expect.poll(() => all, { interval: 5 }).toMatch(pattern)
  await says(/^Its key is [0-9a-f]{64}$/m)
  const [, url = ''] = /accepts letters at (\S+)\. /.exec(all)!
  return { child, url, key: /^Its key is (\S+)$/m.exec(all)![1]! }
}

test('keys are printed, replaced and trusted, and who may come is listed, at a terminal (MB-21)', async () => {
  const anna = keyIn('anna.db')
  expect(anna).toMatch(/^[0-9a-f]{64}$/)
  expect(keyIn('anna.db')).toBe(anna)
  const words = ['--id', 'ben', '--store', at('ben.db'), '--accept', `anna=${anna}`]
  const { child: ben, url, key } = await serving(...words)
  // The key of a store that is open stands among the figures beside the file.
  await expect.poll(() => keyIn('ben.db')).toBe(key)
  // A refused command retries for ever, so the test waits for its first line.
  const send = async (id: string, store: string, says: string): Promise<void> => {
    const from = ['--id', id, '--store', at(store), '--peer', `ben=${url}`]
    const child = spawn(process.execPath, [CLI, 'mailbox', 'send', 'ben', 'hello', ...from])
    children.push(child)
    let text = ''
    child.stderr.on('data', (bytes: Buffer) => (text += bytes.toString()))
    await expect.poll(() => text, { interval: 5 }).toContain(says)
    child.kill('SIGTERM')
    if (child.exitCode === null) await once(child, 'exit')
  }
  await send('anna', 'anna.db', '1 of 1 acknowledged by ben')
  await send('olaf', 'olaf.db', 'ben: ben takes no letters from olaf')
  await send('anna', 'other.db', 'ben: ben knows anna by another key')
  const own = ['--id', 'anna', '--store', at('anna.db')]
  const next = holdfast(['mailbox', 'replace-key', ...own]).out.trim()
  expect([next !== anna, keyIn('anna.db')]).toEqual([true, next])
  await send('anna', 'anna.db', '2 of 2 acknowledged by ben')
  ben.kill('SIGTERM')
  await once(ben, 'exit')
  expect(keyIn('ben.db', 'anna')).toBe(next)
  const trusted = ['mailbox', 'trust', 'anna', anna, '--store', at('ben.db')]
  expect(holdfast(trusted).out).toBe('anna is known by that key\n')
  expect(keyIn('ben.db', 'anna')).toBe(anna)
  expect(holdfast(['mailbox', 'key', 'zoe', '--store', at('ben.db')]).err).toContain(
    'has no known key',
  )
})

test('letters go over wss to a door with a certificate, from a terminal (MB-21)', async () => {
  const pem = fileURLToPath(new URL('../../../test/data/localhost.pem', import.meta.url))
  const words = ['--id', 'tess', '--store', at('tess.db'), '--tls-cert', pem]
  const { url } = await serving(...words)
  expect(url).toMatch(/^wss:/)
  const from = ['--id', 'theo', '--store', at('theo.db'), '--peer', `tess=${url}`]
  const sent = spawnSync(process.execPath, [CLI, 'mailbox', 'send', 'tess', 'hello', ...from], {
    encoding: 'utf8',
    timeout: 60_000,
    env: { ...process.env, NODE_EXTRA_CA_CERTS: pem },
  })
  expect(sent.stderr).toContain('1 of 1 acknowledged by tess')
})

test('what is missing is said in a sentence', () => {
  expect(holdfast(['mailbox', 'knock']).err).toContain(
    'use serve, send, inspect, key, trust, replace-key, outbox, redirect, dead, adopt',
  )
  expect(holdfast(['mailbox', 'send']).err).toContain('takes a peer and letters')
  expect(holdfast(['mailbox', 'inspect']).err).toContain('--store is required')
  const bad = holdfast(['mailbox', 'serve', '--id', 'a', '--store', at('a.db'), '--peer', 'bob'])
  expect([bad.status, bad.err]).toEqual([2, expect.stringContaining('--peer is an id and a URL')])
  expect(holdfast(['mailbox', '--help']).out).toContain('--accept')
  const words = ['--id', 'a', '--store', at('a.db')]
  expect(holdfast(['mailbox', 'serve', ...words, '--key-file', 'k']).err).toContain(
    '--key-file was removed: each mailbox has its own key',
  )
  expect(holdfast(['mailbox', 'serve', ...words, '--tls-cert', at('none')]).err).toContain(
    '--tls-cert cannot be read: ENOENT',
  )
  expect(holdfast(['mailbox', 'serve', ...words, '--tls-key', 'k']).err).toContain(
    '--tls-key k needs --tls-cert beside it',
  )
  expect(holdfast(['mailbox', 'trust', 'bob', ...words]).err).toContain('trust alice KEY')
  expect(holdfast(['mailbox', 'trust', 'bob', 'hunter2', ...words]).err).toContain(
    'the key of bob is 64 hexadecimal digits',
  )
})

test('what waits for a peer is printed, and sent to another', () => {
  const words = ['--id', 'olga', '--store', at('olga.db')]
  holdfast(['mailbox', 'send', 'bob', 'one', 'two\u001b[2J', ...words, '--no-wait'])
  const listed = holdfast(['mailbox', 'outbox', 'bob', ...words])
  expect(listed.out).toMatch(/^bob\/1 \d{4}-\d\d-\d\dT.*Z: "one"\nbob\/2 .*: "two\\u001b\[2J"\n$/)
  expect(holdfast(['mailbox', 'redirect', 'bob', 'carol', ...words]).out).toBe(
    '2 letters for bob go to carol now, and bob is forgotten\n',
  )
  expect(holdfast(['mailbox', 'outbox', 'bob', ...words]).out).toBe('no letters are waiting\n')
  expect(holdfast(['mailbox', 'redirect', 'bob', ...words]).err).toContain('redirect bob carol')
})
