import { defineConfig, type Plugin } from 'vite'
import { holdfast } from 'holdfast/vite'
import { app, PASSWORD, rules } from './server/app.ts'

/** While you develop, Vite serves the page, and asks the app for everything else. */
const backend: Plugin = {
  name: 'backend',
  configureServer: ({ middlewares, config, httpServer }) => {
    middlewares.use(app)
    httpServer?.once('listening', () => config.logger.info(`  The password is "${PASSWORD}"`))
  },
}

export default defineConfig({
  // The page works below any path, such as https://play.example.com/rt/.
  base: './',
  // Rooms survive restarts of Vite; remove the file to start over.
  plugins: [
    holdfast({
      ...rules,
      store: 'node_modules/.holdfast/hub.db',
      links: ['?name=Ada', '?name=Grace'],
    }),
    backend,
  ],
  build: { target: 'es2022', chunkSizeWarningLimit: 1_024 },
})
