/** The page: joins the room of its address, moves the player's dot, and draws. */

import { type HoldfastError, join, type Session } from 'holdfast'
import { begin, collect, Dot, game, HEIGHT, Star, WIDTH } from './game.ts'
import { openInput } from './input.ts'

const SPEED = 300
const REACH = 18

const canvas = document.querySelector<HTMLCanvasElement>('#arena')!
const pen = canvas.getContext('2d')!
const status = document.querySelector('#status')!
const scores = document.querySelector('#scores')!
const asked = new URLSearchParams(location.search)
const room = asked.get('room') ?? 'main'
const name = asked.get('name') ?? (sessionStorage.getItem('name') || newName())

function newName(): string {
  const made = `Player ${Math.floor(Math.random() * 900) + 100}`
  sessionStorage.setItem('name', made)
  return made
}

const colorOf = (player: number): string => `hsl(${(player * 137) % 360} 70% 50%)`

async function enter(): Promise<Session> {
  const key = `stars ${room}`
  const session = await join({
    ...game,
    room,
    name,
    // A reload is the same player.
    token: sessionStorage.getItem(key) ?? undefined,
    onProgress: ({ waitingFor, reason }) => {
      status.textContent = `Joining: waiting for the ${waitingFor} ${reason}`
    },
  })
  const save = (): void => sessionStorage.setItem(key, session.token)
  session.on('members', save)
  save()
  return session
}

/** Says who serves, and what happened when that changed. */
function report(session: Session): void {
  let server = session.primary
  let news = ''
  const show = (): void => {
    const serving = session.primary
    const who =
      serving?.inc === session.me.inc ? 'this window serves' : `${serving?.name ?? 'nobody'} serves`
    const backup = session.backup ? `, ${session.backup.name} would take over` : ''
    status.textContent =
      session.status === 'live' ? `${news}${who}${backup}` : `${session.status}: ${session.reason}`
  }
  session.on('primary', (next) => {
    if (server && server.inc !== next.inc) news = `${server.name} is gone, and nothing was lost: `
    server = next
    show()
  })
  session.on('backup', show)
  session.on('status', show)
  show()
}

function showScores(session: Session): void {
  const rows = session.members.map(({ player, name: who }) => {
    const row = document.createElement('li')
    row.textContent = `${who}: ${String(session.table.get(`score ${player}`) ?? 0)}`
    row.style.color = colorOf(player)
    return { row, score: Number(session.table.get(`score ${player}`) ?? 0) }
  })
  rows.sort((one, other) => other.score - one.score)
  scores.replaceChildren(...rows.map(({ row }) => row))
}

function play(session: Session): void {
  const own = () =>
    session.all(Dot).find((dot) => dot.mine) ??
    session.create(Dot, { pos: [Math.random() * WIDTH, Math.random() * HEIGHT] })
  let me = own()
  // After more than a minute away this is another player, without a dot.
  session.on('healed', ({ same }) => {
    if (!same) me = own()
  })
  const direction = openInput(canvas)
  const asking = new Set<string>()
  let before = performance.now()

  const step = (now: number): void => {
    const seconds = Math.min(0.1, (now - before) / 1_000)
    before = now
    if (session.status === 'live' && me.mine) {
      const [x, y] = me.state.pos
      const vel = direction([x, y]).map((part) => part * SPEED) as [number, number]
      const pos: [number, number] = [
        Math.min(WIDTH - 8, Math.max(8, x + vel[0] * seconds)),
        Math.min(HEIGHT - 8, Math.max(8, y + vel[1] * seconds)),
      ]
      me.set({ pos, vel })
      for (const star of session.all(Star)) {
        const [sx, sy] = star.state.pos
        if (asking.has(star.id) || Math.hypot(sx - pos[0], sy - pos[1]) > REACH) continue
        asking.add(star.id)
        const done = (): void => void asking.delete(star.id)
        session.act(collect, { star: star.id }).then(done, done)
      }
    }
    draw(session)
    requestAnimationFrame(step)
  }
  requestAnimationFrame(step)
}

function draw(session: Session): void {
  pen.clearRect(0, 0, WIDTH, HEIGHT)
  for (const star of session.all(Star)) drawStar(...star.state.pos)
  pen.font = '13px system-ui'
  pen.textAlign = 'center'
  for (const dot of session.all(Dot)) {
    const [x, y] = dot.view().pos
    // Its player closed the window, or is cut off.
    pen.globalAlpha = dot.away ? 0.3 : 1
    pen.fillStyle = colorOf(dot.owner?.player ?? 0)
    pen.beginPath()
    pen.arc(x, y, 10, 0, 2 * Math.PI)
    pen.fill()
    pen.fillText(dot.owner?.name ?? '', x, y - 16)
    pen.globalAlpha = 1
  }
}

function drawStar(x: number, y: number): void {
  pen.beginPath()
  for (let point = 0; point < 10; point++) {
    const [angle, radius] = [(point * Math.PI) / 5 - Math.PI / 2, point % 2 === 0 ? 12 : 5]
    pen.lineTo(x + radius * Math.cos(angle), y + radius * Math.sin(angle))
  }
  pen.fillStyle = 'goldenrod'
  pen.fill()
}

try {
  const session = await enter()
  report(session)
  session.on('members', () => showScores(session))
  session.table.on('changed', () => showScores(session))
  showScores(session)
  session.act(begin).catch(() => {})
  play(session)
} catch (error) {
  status.textContent = (error as HoldfastError).message
}
