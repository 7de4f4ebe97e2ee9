/** @jsxImportSource react */
/** What server-rendering.test.ts runs on Node, bundled with one version of React. */

import { renderToString } from 'react-dom/server'
import type { Session } from '../../packages/holdfast/src/index.ts'
import { SessionProvider } from '../../packages/react/src/index.ts'
import { App, Cards, options, Status } from './ssr-app.tsx'

/** The page without a session. */
export function page(server: string): { page: string; late: string } {
  return {
    page: renderToString(<App server={server} />),
    late: renderToString(<Status server={server} />),
  }
}

/** What stands below a provider, with a session that the server joined. */
export function cards(session: Session): string {
  return renderToString(
    <SessionProvider session={session}>
      <Cards />
    </SessionProvider>,
  )
}

export { options }
