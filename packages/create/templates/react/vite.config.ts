import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'
import { holdfast } from 'holdfast/vite'

export default defineConfig({
  plugins: [react(), holdfast({ links: ['?name=Ada', '?name=Grace'] })],
  build: { target: 'es2022', chunkSizeWarningLimit: 1_024 },
})
