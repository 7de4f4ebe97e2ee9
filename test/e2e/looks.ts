/** What is asked of a page as a whole: is it accessible, reached by keys, does anything clash? */

import axe from 'axe-core'
import type { Page } from 'playwright-core'

/** Findings of these kinds are as bad as serious ones here. */
const NAMED = /^(region|landmark-.*|heading-order|page-has-heading-one|empty-heading|bypass)$/

/** What axe-core finds that is critical, serious, or of the kinds named above. */
export async function findings(page: Page): Promise<string[]> {
  await page.evaluate(axe.source)
  const found = await page.evaluate(async () => {
    const { run } = (globalThis as unknown as { axe: typeof axe }).axe
    return (await run(document, { resultTypes: ['violations'] })).violations
  })
  return found
    .filter(({ id, impact }) => NAMED.test(id) || impact === 'critical' || impact === 'serious')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.join(' ')).join(', ')}`)
}

/** What is reached by Tab, by its words, and what of it does not show that it has the focus. */
export async function walk(page: Page): Promise<{ reached: string[]; unseen: string[] }> {
  const reached: string[] = []
  const unseen: string[] = []
  // Twice past the end, for one begins anywhere.
  for (let ends = 0; ends < 2 && reached.length < 80;) {
    await page.keyboard.press('Tab')
    const at = await focused(page)
    if (!at) ends++
    else reached.push(at.words)
    if (at && at.hidden !== '') unseen.push(`${at.words}: ${at.hidden}`)
  }
  return { reached, unseen }
}

/** What has the focus, and why that is not to be seen within some frames; empty if it is. */
function focused(page: Page): Promise<{ words: string; hidden: string } | null> {
  return page.evaluate(async () => {
    const element = document.activeElement
    if (!element || element === document.body) return null
    const hiddenBy = (): string => {
      // What goes while it has the focus, with its card, has no more to show.
      if (!element.isConnected) return ''
      const { right, bottom, left, top } = element.getBoundingClientRect()
      const inside = right > 0 && bottom > 0 && left < innerWidth && top < innerHeight
      // A radio button is shown by its label.
      const shown = [element, element.closest('label')].some((each) => {
        const style = each && getComputedStyle(each)
        return style && style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) > 0
      })
      if (!inside)
        return `at ${left} to ${right}, ${top} to ${bottom} of ${innerWidth} x ${innerHeight}`
      if (!element.matches(':focus-visible')) return 'its focus is not to be seen'
      return shown ? '' : 'no outline'
    }
    for (let frames = 0; frames < 20 && hiddenBy() !== ''; frames++) {
      await new Promise((next) => requestAnimationFrame(next))
    }
    const input = element as HTMLInputElement
    const words = element.getAttribute('aria-label') || element.textContent || input.name
    return { words: words.trim(), hidden: hiddenBy() }
  })
}

/** Pairs of things that lie over each other, and what is not within the window. */
export async function clashes(page: Page, selectors: string): Promise<string[]> {
  return page.evaluate((wanted) => {
    const boxOf = (element: Element): DOMRect => {
      let { left, top, right, bottom } = element.getBoundingClientRect()
      // Of what scrolls only what shows can lie over something.
      for (let up = element.parentElement; up; up = up.parentElement) {
        if (getComputedStyle(up).overflowY === 'visible') continue
        const box = up.getBoundingClientRect()
        ;[left, top] = [Math.max(left, box.left), Math.max(top, box.top)]
        ;[right, bottom] = [Math.min(right, box.right), Math.min(bottom, box.bottom)]
      }
      return new DOMRect(left, top, right - left, bottom - top)
    }
    const nameOf = (element: Element): string =>
      element.getAttribute('aria-label') ?? `${element.className} ${element.textContent}`.trim()
    const shown = [...document.querySelectorAll(wanted)]
      .filter((element) => element.checkVisibility({ opacityProperty: true }))
      .map((element) => ({ element, box: boxOf(element) }))
      .filter(({ box }) => box.width > 1 && box.height > 1)
    const out = shown.filter(({ box }) => {
      return (
        box.left < -1 || box.top < -1 || box.right > innerWidth + 1 || box.bottom > innerHeight + 1
      )
    })
    const pairs = shown.flatMap((one, at) =>
      shown.slice(at + 1).flatMap((two) => {
        if (one.element.contains(two.element) || two.element.contains(one.element)) return []
        const across = Math.min(one.box.right, two.box.right) - Math.max(one.box.left, two.box.left)
        const along = Math.min(one.box.bottom, two.box.bottom) - Math.max(one.box.top, two.box.top)
        return across > 1 && along > 1 ? [`${nameOf(one.element)} × ${nameOf(two.element)}`] : []
      }),
    )
    const wide = document.documentElement.scrollWidth > innerWidth ? ['wider than the window'] : []
    return [...out.map(({ element }) => `outside: ${nameOf(element)}`), ...pairs, ...wide]
  }, selectors)
}
