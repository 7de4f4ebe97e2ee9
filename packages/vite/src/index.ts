/**
 * The entry point for Vite's configuration.
 *
 *     import { holdfast } from 'holdfast/vite'
 *     export default defineConfig({ plugins: [holdfast()] })
 *
 * @module
 */

export { holdfast, type PluginOptions } from './plugin.ts'
