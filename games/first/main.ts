import { join, object, vec2 } from 'holdfast'

const Dot = object('dot', { pos: vec2(0, 400, 0.5) }) // from 0 to 400, in steps of 0.5
const session = await join({ game: 'first', types: [Dot] })
const me = session.create(Dot, { pos: [200, 200] })
const pen = document.querySelector('canvas')!.getContext('2d')!
onpointermove = (e) => me.set({ pos: [e.offsetX, e.offsetY] })
requestAnimationFrame(function draw() {
  pen.clearRect(0, 0, 400, 400)
  for (const dot of session.all(Dot)) {
    pen.globalAlpha = dot.away ? 0.3 : 1 // its player closed the window, or is cut off
    pen.fillRect(...dot.state.pos, 8, 8)
  }
  requestAnimationFrame(draw)
})
