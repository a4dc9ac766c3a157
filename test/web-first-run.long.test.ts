// The first run: `npm start` with the demo model and the servers of mcp.json, and its web UI in a real Chromium.
import { describe, expect, test } from 'vitest'
import { startBrowser } from './browser.ts'
import { StartStage } from './start-stage.ts'
import { ChatTab, NEEDS_BROWSER } from './web-host.ts'

const stage = StartStage.forEachTest()

/** Suggestions of the page, with the tool that each one calls and a part of the answer. */
const SUGGESTIONS = [
  {
    text: 'list the allowed directories',
    tool: 'list_allowed_directories',
    answer: 'examples/files',
  },
  { text: 'call get-sum with a = 17 and b = 25', tool: 'get-sum', answer: '42' },
  {
    text: 'echo the message "Hello from my own host"',
    tool: 'echo',
    answer: 'Hello from my own host',
  },
]

describe.skipIf(NEEDS_BROWSER !== '')(`the first run${NEEDS_BROWSER}`, () => {
  test('each suggestion of an empty chat is sent, calls a tool of mcp.json, and is answered', async () => {
    const host = await stage.start()
    await host.says('Ctrl-C stops everything')
    for (const server of ['filesystem', 'everything'])
      await expect
        .poll(() => host.output())
        .toMatch(new RegExp(`server ${server} +(ready: )?\\d+ tools`))
    const browser = await startBrowser()
    stage.cleanup.defer(() => browser.close())
    const page = await browser.newPage()
    page.setDefaultTimeout(20_000)
    const faults: string[] = []
    page.on('pageerror', ({ message }) => faults.push(message))
    page.on('console', (message) => {
      if (message.type() === 'error') faults.push(message.text())
    })
    const tab = new ChatTab(page)
    await page.goto(`http://127.0.0.1:${stage.env['PORT']}/`)
    const begin = page.getByRole('region', { name: 'Begin' })
    await begin.waitFor()
    expect(await begin.getByRole('button').allInnerTexts()).toEqual(
      SUGGESTIONS.map(({ text, tool }) => expect.stringMatching(`^${text}\\s.*${tool}$`)),
    )
    for (const { text, tool, answer } of SUGGESTIONS) {
      await begin.getByRole('button', { name: text }).click()
      await expect.poll(() => page.getByLabel('Message', { exact: true }).inputValue()).toBe(text)
      await page.keyboard.press('Enter')
      await tab.done()
      const turn = page.locator('.turn')
      expect(await turn.count()).toBe(1)
      const shown = await turn.innerText()
      expect(shown).toMatch(new RegExp(`${tool}\\s+Done`))
      expect(shown).not.toMatch(/failed|not allowed|unknown/i)
      expect(await tab.answers()).toContain(answer)
      expect(await page.getByRole('alert').count()).toBe(0)
      await tab.button('New chat').click()
    }
    expect(faults).toEqual([])
  })
})
