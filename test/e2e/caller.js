// A Node member in a process of its own: calls whom it is told to, and says what came of it.
import { join, procedure } from '../../packages/holdfast/dist/holdfast/src/node.js'

const [, , server, room, name, topology] = process.argv
const double = procedure('double', (value, by) => `${by.name}: ${2 * value} of ${name}`)
const hang = procedure('hang', () => {
  process.send({ hangs: true })
  return new Promise(() => {})
})
// Answers when it is told to.
let release = () => {}
const late = procedure('late', async (value, by) => {
  process.send({ waits: true })
  await new Promise((resolve) => (release = resolve))
  return `${by.name}: ${2 * value} of ${name}`
})
const AGAIN_MS = 20
const procedures = { double, hang, late }

const session = await join({
  game: 'calls',
  room,
  name,
  topology,
  types: [double, hang, late],
  server,
})

async function call({ target, what, value }) {
  const member = session.members.find((one) => one.name === target) ?? 'primary'
  const outcome = await session.call(member, procedures[what], value, { timeoutMs: 60_000 })
  // In a mesh the link to who just came takes a moment longer than its place in the list.
  if (outcome.code === 'unreachable' && what !== 'hang') {
    await new Promise((resolve) => setTimeout(resolve, AGAIN_MS))
    return call({ target, what, value })
  }
  return outcome.ok ? { answer: outcome.value } : { code: outcome.code, message: outcome.reason }
}

function look(looked) {
  const { primary, backup, safety } = session
  const members = session.members.length
  // Ready for others as soon as all are here and the server has a backup.
  const ready = members === 3 && safety === 'backed-up' && backup !== null
  const names = { primary: primary?.name, backup: backup?.name }
  process.send({ looked, ready, ...names, safety, members })
}

process.on('message', (asked) => {
  if (asked === 'look') return look(true)
  if (asked === 'release') return release()
  void call(asked).then((answer) => process.send({ called: asked, ...answer }))
})
process.on('disconnect', () => process.exit(0))
for (const event of ['members', 'safety', 'primary', 'backup']) session.on(event, () => look(false))
process.send({ entered: true })
look(false)
