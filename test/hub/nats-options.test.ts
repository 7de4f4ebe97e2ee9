// Goal: what is wrong with the options of `nats()` is said before anything is dialled, by its name,
// and no password is repeated.
import { createServer } from 'node:http'
import { expect, test } from 'vitest'
import { hub, nats, type NatsOptions, type SharedStore } from '../../packages/hub/src/index.ts'

const at = (more: object): NatsOptions => ({ servers: 'nats://127.0.0.1:4222', ...more })
const servers = 'a server of NATS is a URL such as nats://10.0.0.5:4222'

test.each<[given: unknown, says: string]>([
  [{}, 'servers is a list of texts: undefined'],
  [{ servers: [] }, 'servers is empty: name at least one of NATS'],
  [at({ servers: ['http://a'] }), `${servers}: "http://a"`],
  [at({ servers: ['nats://a/b'] }), `${servers}: "nats://a/b"`],
  [at({ servers: ['nats://a?x=1'] }), `${servers}: "nats://a?x=1"`],
  [at({ servers: ['nats://u:secret@a:x'] }), `${servers}: "nats://…@a:x"`],
  [at({ servers: ['nats://u%zz:secret@a'] }), `${servers}: "nats://…@a"`],
  [at({ bucket: 'a.b' }), 'bucket has 1 to 64 letters, digits, - and _: "a.b"'],
  [at({ replicas: 6 }), 'replicas is 1 to 5: 6'],
  [at({ credentials: 'secret' }), 'credentials is the text of a file of credentials'],
  [at({ tls: 'ca.pem' }), 'tls takes its options as an object: "ca.pem"'],
  [at({ tls: { cafile: 'x' } }), 'tls takes no option "cafile"'],
  [at({ tls: { ca: 5 } }), 'tls.ca is a text or bytes in PEM: 5'],
  [at({ tls: { cert: 'x' } }), 'tls takes cert and key together'],
  [at({ bukket: 'x' }), 'nats takes no option "bukket"'],
])('%j', async (given, says) => {
  const error = await nats(given as NatsOptions).catch((why: unknown) => why)
  expect(error).toMatchObject({ code: 'bad-value' })
  expect((error as Error).message).toContain(says)
  expect((error as Error).message).not.toContain('secret')
})

test('a hub takes no store that nats() did not open', () => {
  const store = { close: () => {} } as SharedStore
  const says = 'store is the name of a file, null for memory, or what nats() resolved with'
  expect(() => hub({ server: createServer(), store })).toThrow(says)
})
