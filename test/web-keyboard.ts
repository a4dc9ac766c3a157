import type { Page } from 'playwright-core'

const MAX_TABS = 100

/** In the page: the label and the text of the focused element. */
const FOCUSED_NAMES = `(() => {
  const at = document.activeElement
  const ownText = (each) =>
    Array.from(each.childNodes, (node) => (node.nodeType === 3 ? node.textContent : '')).join('')
  const labels = Array.from(at.labels ?? [], ownText)
  const text = at.matches('input, select, textarea') ? '' : at.textContent
  return [at.getAttribute('aria-label') ?? '', text, ...labels].map((each) => each.trim())
})()`

/** Moves the focus with Tab, or Shift+Tab, to the next element that has this label or text. */
export async function tabTo(
  page: Page,
  name: string | RegExp,
  key: 'Tab' | 'Shift+Tab' = 'Tab',
): Promise<void> {
  const seen: string[] = []
  for (let tabs = 0; tabs < MAX_TABS; tabs++) {
    await page.keyboard.press(key)
    const names = await page.evaluate<string[]>(FOCUSED_NAMES)
    seen.push(names.join('/'))
    if (names.some((each) => (typeof name === 'string' ? each === name : name.test(each)))) return
  }
  throw new Error(`${key} does not reach ${String(name)}; it reaches ${seen.join(', ')}`)
}
