/** What the page of arrival.test.ts runs: joins and looks, and what they are told. */

import { join } from '../../packages/holdfast/src/browser.ts'
import { lookFromPage } from '../../packages/holdfast/src/drivers/net/look-browser.ts'

/** Why a join fails, as `code: sentence`. */
async function refusal(server?: string): Promise<string> {
  try {
    await join({ game: 'garden', server })
    return 'joined'
  } catch (error) {
    return `${(error as { code: string }).code}: ${(error as Error).message}`
  }
}

Object.assign(globalThis, { refusal, look: lookFromPage })
