import axe from 'axe-core'
import type { Page } from 'playwright-core'

/** What axe-core finds in both themes, as its rules and the elements. */
export async function accessFaults(page: Page): Promise<string[]> {
  const found: string[] = []
  for (const theme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' })
    await page.evaluate(axe.source)
    const { violations } = await page.evaluate<axe.AxeResults>('axe.run()')
    const faults = violations.map(
      ({ id, nodes }) => `${theme}: ${id}: ${nodes.map(({ html }) => html).join(' ')}`,
    )
    found.push(...faults)
  }
  return found
}
