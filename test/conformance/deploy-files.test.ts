// Goal: the files of docs/deploy do what they say: alerts ask for what a hub prints and fire when
// they should, the unit starts a hub, and the composed service is the image that is built.
// Method: each is read by the program that it is for where that is here, and by a parser; what the
// unit starts is started.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, expect, test, type TestContext } from 'vitest'
import { parse } from 'yaml'
import { said } from '../e2e/harness.ts'
import { readMetrics } from '../runtime/prometheus.ts'
import { freePort } from './free-port.ts'
import { readImage } from './image.ts'

const DEPLOY = resolve('docs/deploy')
const ALERTS = join(DEPLOY, 'alerts.yaml')
const folder = mkdtempSync(join(tmpdir(), 'holdfast-deploy-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function read(name: string): string {
  return readFileSync(join(DEPLOY, name), 'utf8')
}

/** Where that program is not, the test is skipped. */
function needed(program: string, context: TestContext): void {
  if (spawnSync('which', [program]).status !== 0) context.skip(`not here: ${program}`)
}

/** The settings of a unit, each with all that it was given. */
function settings(text: string): Record<string, string[]> {
  const all: Record<string, string[]> = {}
  const lines = text
    .replaceAll(/^#.*\n/gm, '')
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
  for (const line of lines) {
    const [, name, value] = /^(\w+)=(.*)$/.exec(line) ?? []
    if (name !== undefined) (all[name] ??= []).push(value!)
  }
  return all
}

let child: ChildProcess
let metrics: string

// What the unit starts, on ports and in a folder of ours.
beforeAll(async () => {
  const port = await freePort()
  const [line = ''] = settings(read('holdfast.service'))['ExecStart'] ?? []
  const words = line
    .replace(
      '/srv/duel/node_modules/.bin/holdfast',
      resolve('packages/holdfast/dist/cli/src/holdfast.js'),
    )
    .replace('/var/lib/holdfast', folder)
    .replace('--metrics 9100', `--metrics ${port} --port 0`)
    .split(' ')
  mkdirSync(join(folder, 'dist'))
  writeFileSync(join(folder, 'dist/index.html'), '<title>Duel</title>')
  child = spawn(process.execPath, words, { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] })
  await said(child, 'Metrics at')
  metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
})
afterAll(() => void child.kill('SIGKILL'))

interface Rule {
  alert: string
  expr: string
  labels: { severity: string }
  annotations: Record<string, string>
}

function rules(): Rule[] {
  const { groups } = parse(readFileSync(ALERTS, 'utf8')) as { groups: { rules: Rule[] }[] }
  return groups.flatMap((group) => group.rules)
}

test('each metric that an alert names is one that a hub prints, with its labels (AP-15)', () => {
  const families = new Map(readMetrics(metrics).map((family) => [family.name, family]))
  const all = rules()
  expect(all.length).toBeGreaterThan(8)
  const strange: string[] = []
  for (const { alert, expr } of all) {
    for (const [, name = '', within] of expr.matchAll(/\b([a-z]+_[a-z0-9_]+)(\{[^}]*\})?/g)) {
      if (/^label_replace$/.test(name)) continue
      const family = families.get(name)
      if (!family) strange.push(`${alert}: ${name}`)
      for (const [, label = '', how, value = ''] of (within ?? '').matchAll(
        /(\w+)(=~?)"([^"]*)"/g,
      )) {
        // Prometheus itself adds the name of the job.
        if (label === 'job') continue
        const fits = how === '=' ? (text: string) => text === value : matching(value)
        const values = family?.samples.map(({ labels }) => labels[label] ?? '') ?? []
        if (!values.some(fits)) strange.push(`${alert}: ${name} ${label} ${value}`)
      }
    }
    for (const [, code = ''] of expr.matchAll(/"limit", "([^"]+)"/g)) {
      const ceilings = families.get('holdfast_ceiling')?.samples ?? []
      if (!ceilings.some(({ labels }) => labels['limit'] === code)) strange.push(code)
    }
  }
  expect(strange).toEqual([])
})

function matching(value: string): (text: string) => boolean {
  const pattern = new RegExp(`^(${value})$`)
  return (text) => pattern.test(text)
}

test('each alert says what is and what to do, and how soon somebody must look (AP-15)', () => {
  const silent = rules().filter(({ labels: { severity }, annotations }) => {
    const { summary, what, ...more } = annotations
    const isSaid = summary?.includes('{{ $labels.instance }}') && what && !Object.keys(more)[0]
    return !isSaid || !['page', 'ticket'].includes(severity)
  })
  expect(silent).toEqual([])
})

test('the rules pass the check of Prometheus, and fire when they should and else not (AP-15)', (context) => {
  needed('promtool', context) // needs promtool, of Prometheus
  const tool = (...words: string[]): string => {
    const { status, stdout, stderr } = spawnSync('promtool', words, { encoding: 'utf8' })
    return status === 0 ? '' : stdout + stderr
  }
  expect(tool('check', 'rules', ALERTS)).toBe('')
  const cases = resolve('test/data/alerts.yaml')
  expect(tool('test', 'rules', cases)).toBe('')
  // Planted: a rule that is another, and one that is stricter.
  const planted = [
    ['holdfast_disk_ok == 0', 'holdfast_disk_ok == 1'],
    ['(0.8 * holdfast_ceiling)', '(0.9 * holdfast_ceiling)'],
  ] as const
  for (const [from, to] of planted) {
    expect(read('alerts.yaml')).toContain(from)
    writeFileSync(join(folder, 'alerts.yaml'), read('alerts.yaml').replace(from, to))
    const text = readFileSync(cases, 'utf8').replace('../../docs/deploy/', '')
    writeFileSync(join(folder, 'cases.yaml'), text)
    expect(tool('test', 'rules', join(folder, 'cases.yaml'))).not.toBe('')
  }
  const named = new Set(readFileSync(cases, 'utf8').match(/\bHoldfast\w+/g))
  expect(rules().map(({ alert }) => alert)).toEqual(
    [...named].filter((name) => name !== 'Holdfast'),
  )
})

test('the unit starts a hub that SIGTERM ends well, in a folder of its own (AP-15)', async () => {
  const unit = settings(read('holdfast.service'))
  const [state] = unit['StateDirectory']!
  expect(unit['ExecStart']![0]).toContain(`--data /var/lib/${state}/hub.db`)
  expect([unit['Restart'], unit['KillSignal']]).toEqual([['always'], ['SIGTERM']])
  expect(unit['NoNewPrivileges']).toEqual(['true'])
  expect(Number(unit['LimitNOFILE'])).toBeGreaterThan(10_000)
  const twice = Object.entries(unit).filter(([, values]) => values.length > 1)
  expect(twice).toEqual([])
  child.kill('SIGTERM')
  expect(await once(child, 'exit')).toEqual([0, null])
})

test('systemd takes the unit as it stands (AP-15)', (context) => {
  needed('systemd-analyze', context) // needs systemd
  const file = join(folder, 'holdfast.service')
  // Programs that are there.
  const text = read('holdfast.service').replace('/srv/duel/node_modules/.bin/holdfast', '/bin/sh')
  writeFileSync(file, text)
  const verify = (): string => spawnSync('systemd-analyze', ['verify', file]).stderr.toString()
  expect(verify()).toBe('')
  writeFileSync(file, text.replace('KillSignal=SIGTERM', 'KillSignal=SIGTREM'))
  expect(verify()).toContain('SIGTREM')
})

interface Composed {
  services: Record<
    string,
    {
      build: string
      environment: Record<string, string>
      ports: string[]
      volumes: string[]
      restart: string
      stop_grace_period: string
      healthcheck: { test: string[]; interval: string }
      ulimits: { nofile: number }
    }
  >
  volumes: Record<string, unknown>
}

test('what starts a hub waits longer for its end than the hub drains (N-25)', () => {
  const unit = settings(read('holdfast.service'))
  const [, drain] = /--drain (\d+)/.exec(unit['ExecStart']![0]!)!
  const [stop] = unit['TimeoutStopSec']!
  const { hub } = (parse(read('compose.yaml')) as Composed).services
  const grace = parseInt(hub!.stop_grace_period, 10)
  expect(Number(drain)).toBeGreaterThan(0)
  expect(Number(stop)).toBeGreaterThan(Number(drain))
  expect(grace).toBeGreaterThan(Number(drain))
})

test('the composed service is the image: its ports, its volume, its health; one hub, started again (AP-15)', () => {
  const composed = parse(read('compose.yaml')) as Composed
  const image = readImage(join(DEPLOY, 'Dockerfile'))
  expect(Object.keys(composed.services)).toEqual(['hub'])
  const { hub } = composed.services as { hub: Composed['services'][string] }
  expect(hub.build).toBe('.')
  // A name, and no folder of the machine: it outlives the container.
  const [volume = '', place = ''] = hub.volumes[0]!.split(':')
  expect(hub.volumes.length).toBe(1)
  expect(Object.keys(composed.volumes)).toEqual([volume])
  expect(image.env['STORE']).toBe(`${place}/hub.db`)
  expect(hub.ports).toEqual(image.ports.map((port) => `127.0.0.1:${port}:${port}`))
  expect(hub.healthcheck.test).toEqual(['CMD', ...image.health])
  expect(hub.restart).toBe('unless-stopped')
  expect(hub.stop_grace_period).toMatch(/^[1-9]\d*s$/)
  expect(hub.ulimits.nofile).toBeGreaterThan(10_000)
  // What it is told is what the server asks for, and where it listens by itself.
  const server = read('server.mjs')
  for (const name of [...Object.keys(hub.environment), 'HOST', 'STORE']) {
    expect(server).toMatch(new RegExp(`\\b${name} = '`))
  }
  for (const port of image.ports) expect(server).toContain(`'${port}'`)
})
