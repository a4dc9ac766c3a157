// Versions of messages in the web UI: several tabs, reloads, and going on with an older version.
import { HostApi } from '@mcp-host/client'
import { script } from '@mcp-host/testkit'
import type { BrowserContext } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { ChatTab } from './web-host.ts'
import { NEEDS_BROWSER, WebHost } from './web-host.ts'

describe.skipIf(NEEDS_BROWSER !== '')(`branches in the web UI${NEEDS_BROWSER}`, () => {
  let host: WebHost
  let context: BrowserContext
  let tab: ChatTab

  beforeAll(async () => {
    host = await WebHost.start({})
  })
  afterAll(() => host[Symbol.asyncDispose]())

  beforeEach(async () => {
    ;({ context, tab } = await host.visit())
  })
  afterEach(() => host.leave(context))

  const answer = (text: string): string => script({ text })

  async function edit({ page }: ChatTab, index: number, text: string): Promise<void> {
    await page.locator('.turn').nth(index).getByRole('button', { name: 'Edit' }).click()
    await page.getByLabel('Your message').fill(answer(text))
    await page.getByRole('button', { name: 'Send as a new version' }).click()
  }

  /** Waits until exactly these answers are shown, and are complete. */
  async function shows({ page }: ChatTab, ...texts: string[]): Promise<void> {
    await expect
      .poll(() => page.locator('.turn[data-state=done] .markdown').allInnerTexts(), {
        timeout: 20_000,
      })
      .toEqual(texts)
  }

  /** Waits for the text of the switcher of a turn. */
  async function version({ page }: ChatTab, index: number, text: string): Promise<void> {
    await page
      .locator('.turn')
      .nth(index)
      .getByRole('group', { name: 'Versions' })
      .filter({ hasText: text })
      .waitFor()
  }

  test('an edit and another answer of one tab are branches in the other', async () => {
    await tab.say(answer('one'))
    await shows(tab, 'one')
    await tab.say(answer('two'))
    await shows(tab, 'one', 'two')
    const other = await host.open(context, `/#/chat/${tab.sessionId}`)
    await shows(other, 'one', 'two')
    await edit(tab, 0, 'changed')
    await shows(other, 'changed')
    await version(other, 0, '2 of 2')
    await other.button('Answer again').click()
    await version(tab, 0, '3 of 3')
    await shows(tab, 'changed')
  })

  test('after a reload all versions are there, each with what followed it', async () => {
    await tab.say(answer('one'))
    await shows(tab, 'one')
    await tab.say(answer('two'))
    await shows(tab, 'one', 'two')
    await edit(tab, 0, 'changed')
    await shows(tab, 'changed')
    await tab.page.reload()
    await version(tab, 0, '2 of 2')
    await tab.button('Earlier version').click()
    await version(tab, 0, '1 of 2')
    await shows(tab, 'one', 'two')
    // The keyboard stays with the switcher.
    const focused = "document.activeElement.getAttribute('aria-label')"
    expect(await tab.page.evaluate(focused)).toBe('Versions')
    await tab.button('Later version').click()
    await shows(tab, 'changed')
  })

  test('the next message goes on with the version that is shown, in other tabs, too', async () => {
    await tab.say(answer('one'))
    await shows(tab, 'one')
    await edit(tab, 0, 'changed')
    await shows(tab, 'changed')
    const other = await host.open(context, `/#/chat/${tab.sessionId}`)
    await shows(other, 'changed')
    await tab.button('Earlier version').click()
    await shows(tab, 'one')
    await tab.say(answer('after one'))
    await tab.say(answer('and more'))
    await shows(tab, 'one', 'after one', 'and more')
    await shows(other, 'one', 'after one', 'and more')
    const { messages } = await new HostApi({ url: host.stack.url }).messages(tab.sessionId)
    const said = messages.flatMap(({ role, content }) => (role === 'assistant' ? content : []))
    expect(said).toEqual(['one', 'after one', 'and more'])
  })
})
