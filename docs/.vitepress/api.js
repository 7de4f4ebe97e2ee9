/**
 * Writes the API reference to build/api: one page of Markdown for each door, from the docstrings.
 * TypeDoc needs the compiler's API in JavaScript, so it comes with a TypeScript of its own.
 */

import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Application, LogLevel } from 'typedoc'
import { doors } from './doors.js'

const root = fileURLToPath(new URL('../..', import.meta.url))
const out = join(root, 'build/api')
const all = doors()

rmSync(out, { recursive: true, force: true })
const app = await Application.bootstrapWithPlugins({
  plugin: ['typedoc-plugin-markdown'],
  entryPoints: all.map(({ file }) => join(root, file)),
  tsconfig: join(root, 'packages/tsconfig.json'),
  // The compiler of the repository has checked the same files.
  skipErrorChecking: true,
  logLevel: LogLevel.Warn,
  readme: 'none',
  entryFileName: 'index',
  outputFileStrategy: 'modules',
  outputs: [{ name: 'markdown', path: out }],
  hideBreadcrumbs: true,
  hidePageHeader: true,
  disableSources: true,
  excludePrivate: true,
  excludeInternal: true,
  parametersFormat: 'table',
  interfacePropertiesFormat: 'table',
  typeAliasPropertiesFormat: 'table',
  sort: ['source-order'],
  validation: false,
})
const project = await app.convert()
if (!project) throw new Error('the docstrings could not be read')
for (const module of project.children ?? []) {
  const { fileName = '' } = project.getSymbolIdFromReflection(module) ?? {}
  const door = all.find(({ file }) => fileName.endsWith(file))
  if (!door) throw new Error(`the module ${module.name} is no door`)
  module.name = door.page.replace('api/', '')
}
await app.generateOutputs(project)
if (app.logger.hasErrors() || app.logger.hasWarnings()) process.exitCode = 1

const rows = all.map(({ name, page }) => {
  const file = join(root, 'build', `${page}.md`)
  const text = readFileSync(file, 'utf8').replace(/^# .*$/m, `# ${name}`)
  writeFileSync(file, text)
  const [, about = ''] = text.split('\n\n')
  return `| [\`${name}\`](${page.replace('api/', '')}.md) | ${about.replaceAll('\n', ' ')} |`
})
const head = '# API\n\nWhat the docstrings say, one page for each door of the package.'
writeFileSync(
  join(out, 'index.md'),
  [head, '', '| import | what it is |', '|---|---|', ...rows, ''].join('\n'),
)
