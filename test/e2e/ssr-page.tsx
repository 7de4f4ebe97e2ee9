/** @jsxImportSource react */
/**
 * The page of server-rendering.test.ts: hydrates what the server rendered, the second root when
 * the test asks for it.
 */

import { StrictMode, type ReactNode } from 'react'
import { hydrateRoot } from 'react-dom/client'
import { App, Status } from './ssr-app.tsx'

const heading = document.querySelector('h1')

function hydrate(id: string, node: ReactNode): void {
  hydrateRoot(document.querySelector(id)!, <StrictMode>{node}</StrictMode>, {
    onRecoverableError: (error) => console.error('recovered', error),
  })
}

hydrate('#page', <App server={location.origin} />)
Object.assign(globalThis, {
  hydrateLate: () => hydrate('#late', <Status server={location.origin} />),
  isSame: () => document.querySelector('h1') === heading,
})
