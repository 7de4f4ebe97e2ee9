/** A worker that a page started: it tells the page what it saw. */

import { play } from './scene.ts'

postMessage(JSON.stringify(await play(location.origin, 'worker of a page')))
