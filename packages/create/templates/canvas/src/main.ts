/** The page: joins the room of its address, moves the player's dot, and draws. */

import type { HoldfastError, Session } from 'holdfast'
import { openDot } from './dot.ts'
import { begin, Dot, game, HEIGHT, Star, WIDTH } from './game.ts'
import { openInput } from './input.ts'
import { openInvite } from './invite.ts'
import { colorOf, enter, name, say } from './room.ts'
import { showScores } from './scores.ts'

const canvas = document.querySelector<HTMLCanvasElement>('#arena')!
const pen = canvas.getContext('2d')!

function play(session: Session): void {
  const move = openDot(session, name, openInput(canvas, WIDTH))
  let before = performance.now()

  const step = (now: number): void => {
    move(Math.min(0.1, (now - before) / 1_000))
    before = now
    draw(session)
    requestAnimationFrame(step)
  }
  requestAnimationFrame(step)
}

function draw(session: Session): void {
  // As many dots of the screen as the canvas covers: sharp on phones, too.
  const scale = canvas.clientWidth / WIDTH
  canvas.width = canvas.clientWidth * devicePixelRatio
  canvas.height = HEIGHT * scale * devicePixelRatio
  pen.scale(scale * devicePixelRatio, scale * devicePixelRatio)
  // As large on a phone as on a desk.
  const size = Math.min(2, 1 / scale)

  for (const star of session.all(Star)) drawStar(...star.state.pos, size)
  pen.font = `${14 * size}px system-ui`
  pen.textAlign = 'center'
  for (const dot of session.all(Dot)) {
    const { pos, player, name: who } = dot.view()
    const [x, y] = pos
    // Its player closed the window, or is cut off.
    pen.globalAlpha = dot.away ? 0.3 : 1
    pen.fillStyle = colorOf(player)
    pen.beginPath()
    pen.arc(x, y, 11 * size, 0, 2 * Math.PI)
    pen.fill()
    const half = pen.measureText(who).width / 2 + 4
    pen.fillText(
      who,
      Math.min(WIDTH - half, Math.max(half, x)),
      y > 40 * size ? y - 18 * size : y + 28 * size,
    )
    pen.globalAlpha = 1
  }
}

function drawStar(x: number, y: number, size: number): void {
  pen.beginPath()
  for (let point = 0; point < 10; point++) {
    const angle = (point * Math.PI) / 5 - Math.PI / 2
    const radius = (point % 2 === 0 ? 13 : 6) * size
    pen.lineTo(x + radius * Math.cos(angle), y + radius * Math.sin(angle))
  }
  pen.fillStyle = 'gold'
  pen.fill()
}

openInvite()
try {
  const session = await enter(game)
  showScores(session)
  session.act(begin).catch(() => {})
  play(session)
} catch (error) {
  say((error as HoldfastError).message, 'bad')
}
