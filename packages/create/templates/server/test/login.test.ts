import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'holdfast'
import { hub } from 'holdfast/hub'
import { expect, test } from 'vitest'
import { app, PASSWORD, rules } from '../server/app.ts'
import { chat } from '../src/chat.ts'

test('a room admits those who log in, and nobody else', async () => {
  const server = createServer(app)
  const rooms = hub({ server, ...rules, store: null })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const logIn = (body: object): Promise<Response> =>
    fetch(`${url}/api/login`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    })
  const place = { ...chat, room: 'friday', server: url, udp: null }
  try {
    expect((await logIn({ password: 'no', room: 'friday' })).status).toBe(401)
    expect((await logIn({ password: 7 })).status).toBe(400)
    await expect(join(place)).rejects.toMatchObject({ code: 'forbidden' })
    const { ticket } = await (await logIn({ password: PASSWORD, room: 'friday' })).json()
    const ada = await join({ ...place, name: 'Ada', ticket })
    expect(ada.me.name).toBe('Ada')
    // The ticket is for one room and one player.
    await expect(join({ ...place, ticket })).rejects.toMatchObject({ code: 'forbidden' })
    await ada.leave()
  } finally {
    await rooms.close()
    server.close()
  }
})
