/**
 * How a Node process examines an address where a WebSocket neither opens nor fails with a reason: a
 * server that leaves the upgrade request unanswered, or expects TLS and hangs up.
 */

import http from 'node:http'
import https from 'node:https'
import tls from 'node:tls'
import type { Look } from '../../ports.ts'
import { LOOK_MAX_MS, metByError, metByStatus, metOtherScheme, passing } from './met.ts'

/** Tries an HTTP request, and if that fails a TLS handshake. */
export const lookFromNode: Look = async (url) => {
  const found = await statusOf(url)
  if (typeof found === 'number') return metByStatus(found, url)
  if (url.startsWith('ws:') && (await speaksTls(url))) return metOtherScheme(url)
  return metByError(found, url) ?? passing(`it did not answer (${found?.message ?? 'silence'})`)
}

function statusOf(url: string): Promise<number | Error | null> {
  const { get } = url.startsWith('wss:') ? https : http
  return new Promise((resolve) => {
    const request = get(url.replace(/^ws/, 'http'), { agent: false }, (answer) => {
      resolve(answer.statusCode ?? 0)
      request.destroy()
    })
    request.setTimeout(LOOK_MAX_MS, () => {
      resolve(null)
      request.destroy()
    })
    request.on('error', resolve)
  })
}

function speaksTls(url: string): Promise<boolean> {
  const { hostname, port } = new URL(url)
  const host = hostname.replace(/^\[(.*)\]$/, '$1')
  return new Promise((resolve) => {
    // No data is sent on it, so its certificate does not matter.
    const socket = tls.connect({ host, port: Number(port || 80), rejectUnauthorized: false })
    const done = (does: boolean): void => {
      resolve(does)
      socket.destroy()
    }
    socket.once('secureConnect', () => done(true))
    socket.once('error', () => done(false))
    socket.setTimeout(LOOK_MAX_MS, () => done(false))
  })
}
