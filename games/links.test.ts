import { afterEach, expect, test, vi } from 'vitest'
import { atPlace, hubOf, isLocal, linkForOthers } from './links.ts'

afterEach(() => {
  vi.unstubAllGlobals()
})

test('a link with the address of the machine itself is none for others (AP-24)', () => {
  for (const host of [
    '127.0.0.1:8700',
    'localhost:8700',
    'LOCALHOST',
    '[::1]:80',
    '127.1.2.3',
    'a.localhost',
  ]) {
    expect(isLocal(`http://${host}/dots/?room=r`)).toBe(true)
  }
  for (const host of [
    '192.168.1.4:8700',
    'games.example',
    '[fe80::1]',
    'localhost.example',
    '10.127.0.1',
  ]) {
    expect(isLocal(`http://${host}/dots/`)).toBe(false)
  }
})

test('the hub of a game is beside its folder, wherever a proxy has that, unless the address names one (AP-15)', () => {
  expect(hubOf('http://127.0.0.1:8700/dots/?room=r#t')).toBe('http://127.0.0.1:8700/')
  expect(hubOf('https://play.example.com/rt/dots/?room=r')).toBe('https://play.example.com/rt/')
  expect(hubOf('https://play.example.com/rt/dots/?server=ws%3A%2F%2Fother')).toBe('ws://other')
})

test('a link for others has an address by which they find the hub, if there is one', () => {
  const link = 'http://127.0.0.1:8700/dots/?room=r&x=%20#t'
  expect(atPlace(link, ['http://192.168.1.5:9000', 'http://10.0.0.1'])).toBe(
    'http://192.168.1.5:9000/dots/?room=r&x=%20#t',
  )
  expect(atPlace(link, ['http://192.168.1.5'])).toBe('http://192.168.1.5/dots/?room=r&x=%20#t')
  expect(atPlace(link, [])).toBe(link)
})

test('it comes from the hub of the page, also where the link leads to the hub’s own folder', async () => {
  const asked: string[] = []
  vi.stubGlobal('fetch', async (url: URL) => {
    asked.push(url.pathname)
    return Response.json({ demo: false, reach: ['http://192.168.1.5:9000'] })
  })
  const about = new URL('http://127.0.0.1:8700/rt/api/hub')
  expect(await linkForOthers('http://127.0.0.1:8700/rt/?room=r', about)).toBe(
    'http://192.168.1.5:9000/rt/?room=r',
  )
  expect(asked).toEqual(['/rt/api/hub'])
})
