// Goal: what may be spent is spent by whoever spends it, to the last token, and by nobody else.
// Method: the machine of budgets with limits by hand, and each row of the table on both sides.
import { describe, expect, test } from 'vitest'
import * as budgets from '../../packages/hub/src/machine/budgets.ts'
import type { Budgets, Buckets, Spender } from '../../packages/hub/src/machine/budgets.ts'
import {
  defaults,
  inWords,
  type Limits,
  rowsOf,
  type What,
} from '../../packages/hub/src/machine/limits.ts'
import { CLOSING_MAX } from '../../packages/holdfast/src/ports.ts'
import { type HubLimits, readLimits } from '../../packages/hub/src/server/given-limits.ts'
import { calmly } from '../calmly.ts'

const MANY = { max: 1e9, perSecond: 1e9 }

/** All others of that name have no end. */
function onlyOne(who: string, what: string): Limits {
  const limits = defaults() as unknown as Record<string, Record<string, unknown>>
  for (const [other, rows] of Object.entries(limits)) {
    if (other !== who && typeof rows[what] === 'object') rows[what] = MANY
  }
  return limits as unknown as Limits
}

function with_(limits: HubLimits): Budgets {
  return budgets.create(readLimits('limits', limits))
}

function spender(own: Budgets, place = '192.0.2.1', buckets: Buckets = {}): Spender {
  return { account: budgets.accountOf(own, 0, place), buckets, session: 's' }
}

const rates = rowsOf(defaults()).filter(({ limit }) => typeof limit === 'object')

describe.each(rates)('$who.$what', ({ who, what, limit }) => {
  const { max, perSecond } = limit as { max: number; perSecond: number }
  const code = `${who}.${what}`

  test('pays its maximum at once, and not one more; what comes back in a second is paid again (SE-9, SE-16)', () => {
    const own = budgets.create(onlyOne(who, what))
    const by = spender(own)
    const spend = (now: number, cost: number): budgets.Exceeded | null => {
      return budgets.spend(own, now, by, what as What, cost)
    }
    expect(spend(0, max)).toBe(null)
    expect(spend(0, 1)).toEqual({ who, what })
    expect(spend(1_000, perSecond)).toBe(null)
    expect(spend(1_000, 1)).toEqual({ who, what })
    expect(own.refused[code]).toBe(2)
  })
})

describe('who pays', () => {
  const KNOCKS = { joins: { max: 10, perSecond: 1 } }

  test('what one buckets refuses no other pays for (SE-16)', () => {
    const own = with_({ room: { joins: { max: 10, perSecond: 1 } } })
    const by = spender(own)
    expect(budgets.spend(own, 0, by, 'joins', 11)).toEqual({ who: 'room', what: 'joins' })
    expect(by.buckets!['joins']!.left).toBe(32 * 1024)
    expect(by.account.buckets['joins']!.left).toBe(512 * 1024)
    expect(budgets.spend(own, 0, by, 'joins', 10)).toBe(null)
  })
  test('streams of one address share what it has, those of another do not (SE-9)', () => {
    const own = with_({ address: KNOCKS })
    const [one, two, other] = ['192.0.2.1', '192.0.2.1', '192.0.2.2'].map((at) => spender(own, at))
    expect(budgets.spend(own, 0, one!, 'joins', 10)).toBe(null)
    expect(budgets.spend(own, 0, two!, 'joins', 1)).toEqual({ who: 'address', what: 'joins' })
    expect(budgets.spend(own, 0, other!, 'joins', 10)).toBe(null)
  })
  test('all who knock at one room share what it has; another room has its own (SE-13)', () => {
    const own = with_({ room: KNOCKS })
    const [one, two] = ['192.0.2.1', '192.0.2.2'].map((at) => spender(own, at))
    expect(budgets.spend(own, 0, one!, 'joins', 10)).toBe(null)
    expect(budgets.spend(own, 0, one!, 'joins', 1)).toEqual({ who: 'room', what: 'joins' })
    expect(budgets.spend(own, 0, { ...one!, session: 'other' }, 'joins', 10)).toBe(null)
    // Who spent nothing so far knocks on credit.
    expect(budgets.spend(own, 0, two!, 'joins', 10)).toBe(null)
    expect(budgets.spend(own, 0, two!, 'joins', 1)).toEqual({ who: 'room', what: 'joins' })
    own.rooms.delete('s')
    expect(own.rooms.size).toBe(1)
  })
})

describe('what all share', () => {
  const place = (at: number): string => `10.0.${Math.floor(at / 256) % 256}.${at % 256}`

  test('is served to whoever comes while there is enough; then on credit to who spent less than others (SE-8)', () => {
    const own = with_({ hub: { registrations: { max: 60, perSecond: 1 } } })
    const [greedy, modest, other] = [1, 2, 3].map((at) => spender(own, place(at)))
    const ask = (by: Spender, now = 0): boolean => {
      return budgets.spend(own, now, by, 'registrations', 1) === null
    }
    for (let room = 0; room < 10; room++) expect(ask(modest!)).toBe(true)
    for (let room = 0; room < 50; room++) expect(ask(greedy!)).toBe(true)
    expect(budgets.spend(own, 0, greedy!, 'registrations', 1)).toEqual({
      ...{ who: 'hub', what: 'registrations' },
    })
    expect([ask(modest!), ask(other!), own.hub['registrations']!.left]).toEqual([true, true, -2])
    // What the greedy one spent has faded, and what comes back pays the credit first.
    expect([ask(greedy!, 2_500), ask(greedy!, 3_500)]).toEqual([false, true])
  })

  test('is refused to all when there is no credit either, and a crowd of members counts by the head (SE-8, SE-10)', () => {
    const own = with_({ hub: { messages: { max: 50, perSecond: 1 } } })
    const [greedy, school, class_] = [1, 2, 3].map((at) => spender(own, place(at)))
    school!.account.speaking = 9
    const said = (by: Spender, cost: number): boolean => {
      return budgets.spend(own, 0, by, 'messages', cost) === null
    }
    expect([said(greedy!, 10), said(school!, 40)]).toEqual([true, true])
    expect([said(greedy!, 1), said(school!, 1), said(class_!, 50)]).toEqual([false, true, true])
    expect(own.hub['messages']!.left).toBeLessThanOrEqual(-50)
    expect([said(school!, 1), said(spender(own, place(4)), 1)]).toEqual([false, false])
  })

  test.each<[What, number, number, number]>([
    ['messages', 1, 8, 1_000],
    ['lists', 0.5, 1, 400],
    ['joins', 1_200, 3_000, 300],
    ['joins', 400, 600, 1_000],
    ['opens', 0.25, 2, 1_000],
  ])(
    'many who ask for %s, %s each 10 ms, leave %d to a newcomer, be they %d (SE-10, SE-13)',
    (what, each, little, many) => {
      const own = budgets.create(defaults())
      const all = Array.from({ length: many }, (_none, at) => spender(own, place(at)))
      let next = 0
      for (let now = 0; now < 6_000; now++) {
        for (let n = 0; n < many / 10; n++) budgets.spend(own, now, all[next++ % many]!, what, each)
        if (now < 2_000 || now % 101 !== 0) continue
        const newcomer = spender(own, `192.0.2.${Math.floor(now / 101)}`)
        expect([now, budgets.spend(own, now, newcomer, what, little)]).toEqual([now, null])
      }
      // None of them met its own limit.
      const met = Object.entries(own.refused).filter(([, times]) => times > 0)
      expect(met.map(([code]) => code)).toEqual([what === 'joins' ? 'room.joins' : `hub.${what}`])
    },
  )

  test('what was given back does not count as spent (SE-5)', () => {
    const own = with_({ hub: { registrations: { max: 8, perSecond: 1 } } })
    const [one, other, third] = [1, 2, 3].map((at) => spender(own, place(at)))
    for (const by of [one, other]) budgets.spend(own, 0, by!, 'registrations', 4)
    budgets.giveBack(own, one!.account, 'registrations', 4)
    budgets.spend(own, 0, third!, 'registrations', 4)
    const met = [one, other].map((by) => budgets.spend(own, 0, by!, 'registrations', 1))
    expect(met.map((each) => each?.who ?? null)).toEqual([null, 'hub'])
  })
})

describe('accounts', () => {
  test('that have nothing and spent nothing for long are forgotten, others stay (SE-9)', () => {
    const own = budgets.create(defaults())
    const held = budgets.accountOf(own, 0, 'held')
    held.streams.add(1)
    budgets.accountOf(own, 0, 'idle')
    budgets.accountOf(own, own.fullMs - 1, 'early')
    expect(own.accounts.has('idle')).toBe(true)
    budgets.accountOf(own, own.fullMs, 'late')
    expect([...own.accounts.keys()].toSorted()).toEqual(['early', 'held', 'late'])
  })
  test('beyond a number are one for all, so that addresses cannot fill the memory (SE-9)', () => {
    const own = budgets.create(defaults())
    for (let at = 0; at < budgets.ACCOUNTS_MAX; at++) {
      expect(calmly(() => budgets.accountOf(own, 0, `${at}`)).place).toBe(`${at}`)
    }
    const one = calmly(() => budgets.accountOf(own, 0, 'one more'))
    expect(budgets.accountOf(own, 0, 'and one')).toBe(one)
    expect(own.accounts.size).toBe(budgets.ACCOUNTS_MAX + 1)
    expect(budgets.accountOf(own, 0, '7').place).toBe('7')
  })
})

test('each limit has a reason that fits into a close, begins with its code, and names the number', () => {
  const own = budgets.create(defaults())
  for (const { who, what, limit } of rowsOf(own.limits)) {
    const reason = calmly(() => budgets.reasonOf(own, { who, what: what as What }))
    expect(reason).toMatch(/^limit [a-z]+\.[a-zA-Z]+: at most [ -~]+$/)
    expect(reason).toContain(inWords(typeof limit === 'number' ? limit : limit.max))
    expect(reason.length).toBeLessThanOrEqual(CLOSING_MAX)
  }
  expect(inWords(1)).toBe('1')
  expect(inWords({ max: 1_048_576, perSecond: 999 })).toBe('1,048,576 and 999 a second')
  const idle = calmly(() => budgets.reasonOf(own, { who: 'hub', what: 'idle' }))
  expect(idle).toBe('limit hub.idle: this stream was idle and others are waiting')
})

describe('an account', () => {
  test('counts as new again only so long after it was heard of or spent (SE-9, PR-2)', () => {
    const own = budgets.create(defaults())
    const [heard, spends] = ['heard', 'spends'].map((place) => budgets.accountOf(own, 0, place))
    budgets.accountOf(own, 0, 'silent')
    expect(budgets.accountOf(own, 1, 'heard')).toBe(heard)
    budgets.spend(own, 1, { account: spends! }, 'messages', 1)
    budgets.accountOf(own, own.fullMs, 'late')
    expect([...own.accounts.keys()].toSorted()).toEqual(['heard', 'late', 'spends'])
  })
  test('that is opened has four old ones looked at, in turn, and no more (PR-2)', () => {
    const own = budgets.create(defaults())
    for (let at = 0; at < 10; at++) budgets.accountOf(own, 0, `${at}`)
    const order = [...own.accounts.keys()]
    for (const place of order.slice(0, 4)) own.accounts.get(place)!.rooms = 1
    budgets.accountOf(own, own.fullMs, 'a')
    const turned = [...order.slice(4), ...order.slice(0, 4), 'a']
    expect([...own.accounts.keys()]).toEqual(turned)
    budgets.accountOf(own, own.fullMs, 'b')
    expect([...own.accounts.keys()]).toEqual([...turned.slice(4), 'b'])
  })
  test.each<[string, (own: budgets.Account) => void]>([
    ['socket', (own) => void own.sockets++],
    ['stream', (own) => void own.streams.add(1)],
    ['room', (own) => void own.rooms++],
  ])('that has a %s is not forgotten, however long it spent nothing (SE-9, PR-2)', (_what, has) => {
    const own = budgets.create(defaults())
    has(budgets.accountOf(own, 0, 'kept'))
    budgets.accountOf(own, 10 * own.fullMs, 'late')
    expect([...own.accounts.keys()].toSorted()).toEqual(['kept', 'late'])
  })
})

describe('a room', () => {
  test('has a buckets only where what is spent is about it, and has a limit for rooms (PR-2)', () => {
    const own = budgets.create(defaults())
    const { account, buckets } = spender(own)
    budgets.spend(own, 0, { account, buckets: buckets! }, 'joins', 1)
    budgets.spend(own, 0, { account, buckets: buckets!, session: 's' }, 'messages', 1)
    expect(own.rooms.size).toBe(0)
    budgets.spend(own, 0, { account, buckets: buckets!, session: 's' }, 'joins', 1)
    expect([...own.rooms.keys()]).toEqual(['s'])
  })
})

test('what is given back goes to whoever has spent of it, and to nobody else (SE-5, PR-2)', () => {
  const own = budgets.create(defaults())
  const [spends, other] = ['a', 'b'].map((place) => budgets.accountOf(own, 0, place))
  calmly(() => budgets.giveBack(own, other!, 'registrations', 1))
  budgets.spend(own, 0, { account: spends! }, 'registrations', 3)
  budgets.giveBack(own, spends!, 'registrations', 1)
  const [address, hub] = [spends!.buckets, own.hub].map((buckets) => buckets['registrations']!.left)
  expect([address, hub]).toEqual([64 - 2, 1_024 - 2])
  expect(other!.buckets).toEqual({})
})
