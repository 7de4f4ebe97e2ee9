/** A hub in Vite's dev server, beside the socket of its own: `npx vite`, in this folder. */

import { hub } from 'holdfast/hub'
import { defineConfig, type Plugin } from 'vite'

const rooms: Plugin = {
  name: 'rooms',
  configureServer({ httpServer }) {
    // Nobody listens where Vite is a part of another server: give the hub that one.
    if (httpServer) hub({ server: httpServer, path: '/rt/hub', games: ['duel'], store: null })
  },
}

export default defineConfig({ plugins: [rooms] })
