// Goal: the list of the example is rendered on a server too, in Preact and in React.
// Method: the very file, once as it is, once with React in the place of Preact.
import type { Session } from 'holdfast'
import { world } from 'holdfast/sim'
import { h } from 'preact'
import { renderToString } from 'preact-render-to-string'
import { afterEach, expect, test, vi } from 'vitest'
import type * as Example from './list.tsx'
import { Card, List } from './list.tsx'

async function listed(type: typeof Card): Promise<Session> {
  const w = world({ seed: 2, conditions: 'rtt=20' })
  const session = await w.join({ game: 'cards', name: 'Ada', types: [type] })
  session.create(type, { text: 'Pour the tea', done: true })
  return session
}

afterEach(() => {
  vi.doUnmock('preact/compat')
  vi.doUnmock('preact/jsx-runtime')
  vi.doUnmock('preact/jsx-dev-runtime')
})

test('a server renders the list of the example in Preact (AP-14)', async () => {
  const html = renderToString(h(List, { session: await listed(Card) }))
  expect(html).toMatch(/<li>.*Pour the tea.*<small>yours<\/small>/)
})

test('and in React, with no "Missing getServerSnapshot" (AP-14)', async () => {
  vi.doMock('preact/compat', () => import('react'))
  // In Preact both names are one file, so whichever is mocked last stands for both.
  const runtime = async (): Promise<object> => ({
    ...((await import('react/jsx-runtime')) as object),
    ...((await import('react/jsx-dev-runtime')) as object),
  })
  vi.doMock('preact/jsx-runtime', runtime)
  vi.doMock('preact/jsx-dev-runtime', runtime)
  const inReact: string = './list.tsx?react'
  const example = (await import(inReact)) as typeof Example
  const react = await import('react')
  const server = await import('react-dom/server')
  const session = await listed(example.Card)
  const html = server.renderToString(react.createElement(example.List as never, { session }))
  expect(html).toMatch(/<li>.*Pour the tea.*<small>yours<\/small>/)
})
