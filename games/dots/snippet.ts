import { join, object, vec2, u8 } from 'holdfast'
const Dot = object('dot', { pos: vec2(0, 100, 0.1), hue: u8 })
const session = await join({ game: 'first', types: [Dot] })
const me = session.create(Dot, { pos: [50, 50], hue: Math.floor(Math.random() * 255) })
const c = document.querySelector('canvas')!
const g = c.getContext('2d')!
onpointermove = (e) => me.set({ pos: [(e.offsetX / c.width) * 100, (e.offsetY / c.height) * 100] })
requestAnimationFrame(function draw() {
  g.clearRect(0, 0, c.width, c.height)
  for (const { state } of session.all(Dot)) {
    g.fillStyle = `hsl(${state.hue} 80% 60%)`
    g.fillRect((state.pos[0] / 100) * c.width, (state.pos[1] / 100) * c.height, 8, 8)
  }
  requestAnimationFrame(draw)
})
