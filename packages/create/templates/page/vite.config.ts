import { defineConfig } from 'vite'
import { holdfast } from 'holdfast/vite'

export default defineConfig({
  // The page works below any path, such as https://play.example.com/rt/.
  base: './',
  // Rooms survive restarts of Vite; remove the file to start over.
  plugins: [
    holdfast({ store: 'node_modules/.holdfast/hub.db', links: ['?name=Ada', '?name=Grace'] }),
  ],
  build: { target: 'es2022', chunkSizeWarningLimit: 1_024 },
})
