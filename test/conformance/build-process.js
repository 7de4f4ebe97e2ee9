// A hub or a member of any build, as a process of its own: `LIBRARY hub PORT FILE`, or
// `LIBRARY member SERVER NAME`. A member plays the scene: it says what it sees, and acts when told.

import { once } from 'node:events'
import { createServer } from 'node:http'
import { play } from './build-scene.js'

const [, , path, role, ...words] = process.argv
const library = await import(path)

if (role === 'hub') {
  const [port, store] = words
  const server = createServer().listen(Number(port), '127.0.0.1')
  await once(server, 'listening')
  const hub = library.hub({ server, store })
  process.send({ listens: 'yes' })
  // A hub that is told to end has closed its file when its process is gone.
  process.once('SIGTERM', () => void hub.close().then(() => process.exit(0)))
} else {
  const [server, name] = words
  const tell = (seen) => process.send(seen)
  const act = await play(library, { server, name }, tell)
  process.on('message', (by) => void act(by).then((did) => process.send({ did })))
}
process.on('disconnect', () => process.exit(0))
