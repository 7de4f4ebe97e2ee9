/** What the page of mailbox.test.ts runs: the claims of every store, and one life of a mailbox. */

import { openMailIndexedDb } from '../../packages/mailbox/src/drivers/mail-indexeddb.ts'
import { type Mailbox, openMailbox } from '../../packages/mailbox/src/browser.ts'
import { CLAIMS, KEEPS } from '../conformance/mail-store.ts'

/** What did not hold, a line each. */
async function claims(): Promise<string[]> {
  const wrong: string[] = []
  for (const [name, claim] of Object.entries({ ...CLAIMS, ...KEEPS })) {
    try {
      await claim(() => openMailIndexedDb(name))
    } catch (error) {
      wrong.push(`${name}: ${String(error)}`)
    }
  }
  return wrong
}

/** Posts numbers until so many were posted in all lives; answers come back in order. */
async function live(url: string, total: number): Promise<void> {
  const box = await openMailbox({ id: 'page', store: 'page', peers: { node: url } })
  const show = (answered: unknown, wrong: unknown): void => {
    Object.assign(document.body.dataset, { answered: answered ?? 0, wrong: wrong ?? '' })
  }
  box.on('letter', (tx, _from, body) => {
    const last = (tx.get('answered') as number | undefined) ?? 0
    if (body !== last + 1) tx.set('wrong', `${JSON.stringify(body)} came after ${last}`)
    tx.set('answered', body)
    show(body, tx.get('wrong'))
  })
  show(box.get('answered'), box.get('wrong'))
  const posted = (): number => box.queues().find(({ peer }) => peer === 'node')?.posted ?? 0
  while (posted() < total) await box.to('node').post(posted() + 1)
}

/** Posts, replaces its key, and posts again, until that was answered. @returns the keys */
async function rekeyed(url: string, node: string): Promise<unknown> {
  const box = await openMailbox({ id: 'page', store: 'rekeyed', peers: { node: url } })
  const { key: first } = box
  const answers: unknown[] = []
  const answered = new Promise<void>((resolve) => {
    box.on('letter', (_tx, _from, body) => {
      answers.push(body)
      if (answers.length === 3) resolve()
    })
  })
  // The other side replaces its key too, which curves of the browser check.
  const followed = new Promise<string>((resolve) => box.on('key', ({ key }) => resolve(key)))
  await box.to('node').post(1)
  const second = await box.replaceKey()
  for (const body of [2, 3]) await box.to('node').post(body)
  await answered
  const theirs = await followed
  await box.close()
  const again = await openMailbox({ id: 'page', store: 'rekeyed' })
  const known = [again.key === second, first !== second, again.peer('node').key === theirs]
  await again.close()
  return { answers, known, second, before: node !== theirs }
}

/** The complaint of a second opening. */
async function twice(): Promise<string> {
  const store = await openMailIndexedDb('twice')
  try {
    await openMailIndexedDb('twice')
    return 'no error'
  } catch (error) {
    return (error as Error).message
  } finally {
    store.close()
  }
}

/** What a post says after the storage was cleared under it. */
async function cleared(): Promise<string> {
  const box = await openMailbox({ id: 'page', store: 'cleared' })
  await box.to('node').post(1)
  await new Promise<void>((resolve, reject) => {
    const request = indexedDB.deleteDatabase('holdfast mailbox cleared')
    request.onsuccess = () => resolve()
    request.onerror = () => reject(request.error)
  })
  const said = await box
    .to('node')
    .post(2)
    .then(
      () => 'no error',
      (error: Error) => `${error.name}: ${error.message}`,
    )
  await box.close()
  return said
}

/** What four openings say was repaired; before the third the database is deleted. */
async function deleted(): Promise<(string | null)[]> {
  const said: (string | null)[] = []
  for (let opening = 1; opening <= 4; opening++) {
    if (opening === 3) {
      const request = indexedDB.deleteDatabase('holdfast mailbox deleted')
      await new Promise((resolve) => (request.onsuccess = resolve))
    }
    const box = await openMailbox({ id: 'page', store: 'deleted' })
    said.push(box.repaired)
    await box.close()
  }
  return said
}

/** What a page is told that has no locks, as on plain http from another machine. */
async function plain(): Promise<string> {
  Object.defineProperty(navigator, 'locks', { value: undefined, configurable: true })
  try {
    return await openMailIndexedDb('plain').then(
      () => 'no error',
      (error: Error) => `${error.name}: ${error.message}`,
    )
  } finally {
    delete (navigator as { locks?: unknown }).locks
  }
}

/** A mailbox that posts until there is no room. */
const fill = {
  box: null as Mailbox | null,
  posted: 0,
  /** Posts 4 MB so many times, unless something is refused before; what was said. */
  async untilRefused(times: number): Promise<string> {
    fill.box ??= await openMailbox({ id: 'page', store: 'fill' })
    for (let i = 0; i < times; i++) {
      const body = crypto.getRandomValues(new Uint8Array(65_000))
      const posts = Array.from({ length: 64 }, () => fill.box!.to('node').post(body))
      const ends = await Promise.allSettled(posts)
      fill.posted += ends.filter(({ status }) => status === 'fulfilled').length
      const failed = ends.find((end) => end.status === 'rejected')
      if (!failed) continue
      const { code, message } = failed.reason as { code: string; message: string }
      return `${code}: ${message}`
    }
    return 'posted'
  },
  /** Opens it anew and posts one more: how many are gone, and what is said of them. */
  async again(): Promise<{ lost: number; repaired: string | null }> {
    await fill.box!.close()
    fill.box = await openMailbox({ id: 'page', store: 'fill' })
    const { repaired } = fill.box
    const n = await fill.box.to('node').post('once more')
    await fill.box.close()
    return { lost: fill.posted + 1 - n, repaired }
  },
}

Object.assign(globalThis, { claims, cleared, deleted, fill, live, plain, rekeyed, twice })
