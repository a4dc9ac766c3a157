// Published MCP apps from npm in the web UI.
import { join } from 'node:path'
import { script } from '@mcp-host/testkit'
import type { BrowserContext, FrameLocator } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { ChatTab } from './web-host.ts'
import { NEEDS_BROWSER, WebHost } from './web-host.ts'

/** The entry of an installed server. */
function installed(name: string): object {
  const folder = join(import.meta.dirname, '../node_modules/@modelcontextprotocol', name)
  return { command: process.execPath, args: [join(folder, 'dist/index.js'), '--stdio'] }
}

describe.skipIf(NEEDS_BROWSER !== '')(`published MCP apps in the web UI${NEEDS_BROWSER}`, () => {
  let host: WebHost
  let context: BrowserContext
  let tab: ChatTab

  beforeAll(async () => {
    host = await WebHost.start({
      tools: [{ name: 'echo', inputSchema: { type: 'object' } }],
      servers: {
        clock: installed('server-basic-vanillajs'),
        monitor: installed('server-system-monitor'),
      },
      // One, one, and two of the monitor.
      toolCount: 4,
    })
  })
  afterAll(() => host[Symbol.asyncDispose]())
  beforeEach(async () => {
    context = await host.browser.newContext()
    tab = await host.open(context)
  })
  afterEach(() => context.close())

  const app = (): FrameLocator => tab.page.frameLocator('.app-frame').frameLocator('iframe')

  async function show(name: string): Promise<void> {
    await tab.say(script({ calls: [{ name, arguments: {} }] }, { text: 'end' }))
    await tab.done()
  }

  test('a clock shows the result of its call, asks again, and puts a text into the message', async () => {
    await show('clock__get-time')
    const time = app().locator('#server-time')
    await time.filter({ hasText: /^\d{4}-/ }).waitFor()
    const first = await time.textContent()
    await app().getByRole('button', { name: 'Get Server Time' }).click()
    await expect.poll(() => time.textContent(), { timeout: 20_000 }).not.toBe(first)
    await app().getByRole('button', { name: 'Send Message' }).click()
    await tab.button('Put it in').click()
    const message = tab.page.getByLabel('Message', { exact: true })
    await expect.poll(() => message.inputValue(), { timeout: 20_000 }).toContain('message text')
  })

  test('a monitor calls its tool for apps only, which no model may call', async () => {
    await show('monitor__get-system-info')
    await app().locator('#memory-percent').filter({ hasText: /^\d/ }).waitFor()
    await tab.button('New chat').click()
    await tab.page.getByText('Ask for something a tool can do.').waitFor()
    await show('monitor__poll-system-stats')
    await tab.page.locator('.tool .state', { hasNotText: 'Done' }).waitFor()
  })
})
