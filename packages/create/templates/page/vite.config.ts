import { defineConfig } from 'vite'
import { holdfast } from 'holdfast/vite'

export default defineConfig({
  plugins: [holdfast({ links: ['?name=Ada', '?name=Grace'] })],
  build: { target: 'es2022', chunkSizeWarningLimit: 1_024 },
})
