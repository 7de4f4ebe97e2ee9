// Goal: the tables of roles say what is so: the document has them, a way that is no row is refused.
// Method: the document's block is written from the tables; UPDATE=1 rewrites it.
import { readFileSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { founder } from '../../proof/models/processes.ts'
import { become } from '../../packages/holdfast/src/session/output.ts'
import { blank } from '../../packages/holdfast/src/session/state.ts'
import {
  isTrueOf,
  ROLES,
  type Role,
  TRAITS,
  type Trait,
} from '../../packages/holdfast/src/session/role-table.ts'
import { roleAfter, TRANSITIONS } from '../../packages/holdfast/src/session/role-table.ts'
import { listening } from './scene.ts'

const PAGE = new URL('../../docs/protocols/session.md', import.meta.url)
const FROM =
  '<!-- from session/role-table.ts; UPDATE=1 npx vitest run test/session rewrites it -->\n'
const TO = '<!-- end -->\n'

const roles = Object.keys(ROLES) as Role[]
const traits = Object.keys(TRAITS) as Trait[]

function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [heads, heads.map(() => '---'), ...rows]
  return lines.map((cells) => `| ${cells.join(' | ')} |\n`).join('')
}

// All but the idle ones are too many to be read.
function from(names: readonly Role[]): string {
  const others = roles.filter((role) => !names.includes(role))
  return others.join() === 'idle' ? 'any but idle' : names.join(', ')
}

function block(): string {
  const ways = TRANSITIONS.map(({ from: names, on, when, does, to }) => {
    return [from(names), `${when} (\`${on}\`)`, to, does]
  })
  const marks = traits.map((trait) => {
    const those = roles.filter((role) => isTrueOf(role, trait))
    return [trait, TRAITS[trait], those.join(', ')]
  })
  const first = table(['role', 'event', 'next', 'what it does'], ways)
  return `${first}\n${table(['what is true', 'it', 'of these'], marks)}`
}

test('the document has the tables that the code consults (AP-19)', () => {
  const text = readFileSync(PAGE, 'utf8')
  const [before, behind = ''] = text.split(FROM)
  const after = behind.slice(behind.indexOf(TO))
  const now = `${before}${FROM}${block()}${after}`
  if (process.env['UPDATE'] === '1') writeFileSync(PAGE, now)
  else expect(text).toBe(now)
})

test('every role is reached, and none is the end (AP-19)', () => {
  expect(roles.filter((role) => !TRANSITIONS.some(({ to }) => to === role))).toEqual([])
  const left = (role: Role): boolean => TRANSITIONS.some(({ on }) => roleAfter(role, on) !== null)
  expect(roles.filter((role) => !left(role))).toEqual([])
})

test('a cause leads from a role one way, and nowhere from others (AP-19)', () => {
  const ways = TRANSITIONS.flatMap(({ from: names, on }) => names.map((role) => `${role} ${on}`))
  expect(new Set(ways).size).toBe(ways.length)
  expect(roleAfter('backup', 'suspects')).toBe('taking')
  expect(roleAfter('alone', 'suspects')).toBe(null)
})

test('T77: whatever one is, it is deposed when the register names others; who is idle is nothing to be deposed from (AP-19)', () => {
  const after = roles.map((role) => [role, roleAfter(role, 'deposed')])
  const expected = roles.map((role) => [role, role === 'idle' ? null : 'idle'])
  expect(after).toEqual(expected)
})

test('a way that is no row of the table is a bug, and refused (AP-19)', () => {
  const { session } = founder(null).process
  const { out, events } = listening()
  const idle = { ...blank(), incoming: null }
  expect(() => become({ session, now: 0, out }, 'given', idle)).toThrow('no role follows on alone')
  expect([session.server.role, events]).toEqual(['alone', []])
})
