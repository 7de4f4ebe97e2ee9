// A Node member in a process of its own: acts without end, and says in JSON lines what it sees.
import { action, join } from '../../packages/holdfast/dist/holdfast/src/node.js'

const [, , server, room, name] = process.argv
// The same types as the page's, or the two builds would not fit: the game is its own here.
const note = action('note', (table, args, by) => {
  const key = `note.${by.player}.${args.n}`
  table.set(key, (table.get(key) ?? 0) + 1)
  table.set('count', (table.get('count') ?? 0) + 1)
})

const session = await join({ game: 'notes', room, name, types: [note], server })
const acknowledged = []
let acting = true
let rests = false

function say() {
  const { epoch, role, path } = session.debug.figures()
  const counts = session.table.keys('note.').map((key) => [key, session.table.get(key)])
  const { status, safety, me } = session
  const members = session.members.map((member) => member.player)
  const primary = session.primary?.player
  const line = {
    name,
    status,
    safety,
    epoch,
    role,
    path,
    members,
    primary,
    player: me.player,
    rests,
  }
  process.send({ ...line, acknowledged: [...acknowledged], counts })
}

async function act() {
  for (let n = 0; acting; n++) {
    await session.act(note, { n })
    acknowledged.push(`note.${session.me.player}.${n}`)
    // A session's table is bounded, and a test is short: a few hundred are plenty.
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  rests = true
}

process.on('message', (what) => {
  if (what === 'say') say()
  if (what === 'stop') acting = false
})
process.on('disconnect', () => process.exit(0))
void act()
process.send({ ready: true })
