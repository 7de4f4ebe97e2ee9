// Goal: the snippet of the guide to mailboxes runs as it stands there.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openMailSqlite } from '../../packages/mailbox/src/drivers/mail-sqlite.ts'

test('the snippet of mailboxes runs, and is that of the guide', async () => {
  const read = (path: string): string =>
    readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')
  const snippet = read('games/examples/mailbox/snippet.ts')
  expect(read('docs/guide/mailbox.md')).toContain(snippet)
  const before = process.cwd()
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-snippet-'))
  try {
    process.chdir(folder)
    await import('../../games/examples/mailbox/snippet.ts')
    const store = openMailSqlite('bob.db')
    expect(Buffer.from(store.get('hats')!).toString()).toBe('\x011')
    store.close()
  } finally {
    process.chdir(before)
    rmSync(folder, { recursive: true })
  }
})
