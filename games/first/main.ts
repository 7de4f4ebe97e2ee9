import { join, object, u8, vec2 } from 'holdfast'

const Dot = object('dot', { pos: vec2(0, 400, 0.5), hue: u8 }) // from 0 to 400, in steps of 0.5
const session = await join({ game: 'first', name: location.hash.slice(1) || 'me', types: [Dot] })
const me = session.create(Dot, { pos: [200, 200], hue: Math.random() * 256 })
const pen = document.querySelector('canvas')!.getContext('2d')!
let news = ''
session.on('primary', (next) => (news = `${next.name} took over. `)) // another serves
onpointermove = (e) => me.set({ pos: [e.offsetX, e.offsetY] })
requestAnimationFrame(function draw() {
  pen.canvas.width = 400 // clears it
  pen.strokeRect(0, 0, 400, 400)
  pen.fillText(`${news}Server: ${session.primary?.name}`, 8, 16)
  for (const { state, owner, away } of session.all(Dot)) {
    pen.fillStyle = `hsl(${state.hue} 80% 40% / ${away ? 0.3 : 1})` // away: closed, or cut off
    pen.fillRect(...state.pos, 8, 8)
    pen.fillText(away ? 'away' : (owner?.name ?? ''), ...state.pos)
  }
  requestAnimationFrame(draw)
})
