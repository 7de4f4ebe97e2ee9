/** A worker that joins while it answers a request: `/?server=…&name=…`. */

import { play } from './scene.ts'

// oxlint-disable-next-line import/no-default-export -- a worker is a default export
export default {
  async fetch(request: Request): Promise<Response> {
    const { searchParams } = new URL(request.url)
    return Response.json(await play(searchParams.get('server')!, searchParams.get('name')!))
  },
}
