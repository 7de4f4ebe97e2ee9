/**
 * Opens many TCP connections that never finish a request, and says when all are closed again.
 * Started as a process of its own: `node half-open.js PORT COUNT`. Prints `open N` when all
 * have connected, `closed N` when the server has closed the last.
 */

import net from 'node:net'

const [port, count] = process.argv.slice(2).map(Number)
/** What each says before it falls silent. */
const BEGINNINGS = [
  '',
  'G',
  'GET /hub HTTP/1.1\r\n',
  'GET /hub HTTP/1.1\r\nHost: a\r\nUpgrade: web',
]
/** Connections that are being made at a time, or the server's backlog overflows and TCP waits. */
const AT_A_TIME = 100

let started = 0
let connected = 0
let closed = 0

function say(line) {
  process.stdout.write(`${line}\n`)
}

function start() {
  if (started === count) return
  const beginning = BEGINNINGS[started++ % BEGINNINGS.length]
  const socket = net.connect(port, '127.0.0.1')
  let settled = false
  const settle = () => {
    if (settled) return
    settled = true
    if (++connected === count) say(`open ${count}`)
    start()
  }
  socket.on('connect', () => {
    socket.write(beginning)
    settle()
  })
  socket.on('error', () => {})
  socket.on('close', () => {
    settle()
    if (++closed === count) {
      say(`closed ${count}`)
      process.exit(0)
    }
  })
}

for (let i = 0; i < AT_A_TIME; i++) start()
