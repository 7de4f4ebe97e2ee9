/** Each attack of the suite on a hub with the limits that it has, while a room of two plays on. */

import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { type Attack, ATTACKS } from '../../test/attack/attacks.ts'
import { type Outcome, Siege } from '../../test/attack/siege.ts'
import { bundle } from '../../test/conformance/bundle.ts'
import { startHubIn } from '../../test/conformance/hub-process.ts'

const MEMBERS = 2

/** Quiet, and then each attack from so many addresses, for so long each. */
export async function floods(
  within: string,
  addresses: readonly number[],
  ms: number,
): Promise<Outcome[]> {
  const folder = mkdtempSync(join(within, 'floods-'))
  const script = await bundle('test/attack/attacker.ts', join(folder, 'attacker'))
  const hub = await startHubIn(folder)
  const siege = await Siege.begin(hub, script, MEMBERS)
  try {
    const outcomes = [await siege.bear('quiet', 0, ms)]
    for (const attack of Object.keys(ATTACKS) as Attack[]) {
      for (const many of addresses) outcomes.push(await siege.bear(attack, many, ms))
    }
    if (!hub.isRunning()) throw new Error(`the hub ended: ${hub.errors()}`)
    return outcomes
  } finally {
    await siege.end()
  }
}
