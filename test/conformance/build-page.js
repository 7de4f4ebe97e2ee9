// A page of any build: `?build=NAME&name=PLAYER` plays the scene with the library NAME.js, which is
// beside it. The body says what it sees; `act` of the window acts.

import { play } from './build-scene.js'

const { build, name } = Object.fromEntries(new URLSearchParams(location.search))
const tell = (seen) => Object.assign(document.body.dataset, seen)
globalThis.act = await play(await import(`./${build}.js`), { server: location.origin, name }, tell)
tell({ ready: 'yes' })
