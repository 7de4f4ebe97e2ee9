import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { libsql, LIBSQL } from './libsql.ts'

function failing(message: string): () => unknown {
  return () => {
    throw new Error(message)
  }
}

test('who opens a store without libsql is told which package, and how to install it (AP-16)', () => {
  const missing = failing("Cannot find module 'libsql'\nRequire stack:\n- /a/b.js")
  expect(() => libsql(missing)).toThrow(
    expect.objectContaining({
      code: 'store',
      message: expect.stringMatching(/needs the package libsql; .* npm install libsql@\^0\.5\.29/),
    }),
  )
})

test('a libsql without the binary of this system is told by its own word, in one line', () => {
  const bare = failing("Cannot find module '@libsql/linux-x64-gnu'\nRequire stack:\n- /a/b.js")
  expect(() => libsql(bare)).toThrow(/libsql, which says: Cannot find module '@libsql\/linux-x64/)
  expect(() => libsql(bare)).not.toThrow(/Require stack/)
})

test('the version that is named is the one of package.json', () => {
  const text = readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')
  const { peerDependencies } = JSON.parse(text) as { peerDependencies: Record<string, string> }
  expect(LIBSQL).toBe(`libsql@${peerDependencies['libsql']}`)
})
