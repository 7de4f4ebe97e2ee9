/** The raw detector's other side: an empty heartbeat by bare UDP. `node beat.js PORT MS`. */

import { createSocket } from 'node:dgram'

process.on('disconnect', () => process.exit())
const [port, every] = process.argv.slice(2).map(Number) as [number, number]
const socket = createSocket('udp4')
socket.on('error', () => {})
const start = performance.now()
let beats = 0

function beat(): void {
  socket.send('beat', port, '127.0.0.1')
  beats++
  setTimeout(beat, Math.max(0, start + beats * every - performance.now()))
}
beat()
