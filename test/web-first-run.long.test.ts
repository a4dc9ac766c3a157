// The first run: `npm start` with the demo model and the servers of mcp.json, and its web UI in a real Chromium.
import { describe, expect, test } from 'vitest'
import { startBrowser } from './browser.ts'
import { StartStage } from './start-stage.ts'
import { ChatTab, NEEDS_BROWSER } from './web-host.ts'

const stage = StartStage.forEachTest()

/** Suggestions of the page, with the tools that each one calls and a part of the answer. */
const SUGGESTIONS = [
  {
    text: 'Read the text file shopping-list.md',
    tools: ['read_text_file'],
    answer: 'a notebook',
  },
  { text: 'Get the tiny image', tools: ['get-tiny-image'], answer: 'image' },
  {
    text: 'Read the text file welcome.txt, then get the sum of 17 and 25',
    tools: ['read_text_file', 'get-sum'],
    answer: '42',
  },
  { text: 'What can you do?', tools: [], answer: 'I am the built-in demo model' },
]

describe.skipIf(NEEDS_BROWSER !== '')(`the first run${NEEDS_BROWSER}`, () => {
  test('each suggestion of an empty chat is sent by one click, calls tools of mcp.json, and is answered', async () => {
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
    for (const { text } of SUGGESTIONS) await begin.getByRole('button', { name: text }).waitFor()
    const labels = await begin.getByRole('button').allInnerTexts()
    expect(labels).toHaveLength(SUGGESTIONS.length)
    for (const [index, { tools }] of SUGGESTIONS.entries())
      expect(tools.filter((tool) => labels[index]?.includes(tool) !== true)).toEqual([])
    for (const { text, tools, answer } of SUGGESTIONS) {
      await begin.getByRole('button', { name: text }).click()
      await tab.done()
      const turn = page.locator('.turn')
      expect(await turn.count()).toBe(1)
      const shown = await turn.innerText()
      for (const tool of tools) expect(shown).toMatch(new RegExp(`${tool}\\s+Done`))
      expect(shown).not.toMatch(/failed|not allowed|unknown/i)
      expect(shown).toContain('built-in demo model, not a real one')
      expect(await tab.answers()).toContain(answer)
      expect(await turn.getByAltText('Result of the tool').count()).toBe(/image/.test(text) ? 1 : 0)
      expect(await page.getByRole('alert').count()).toBe(0)
      await tab.button('New chat').click()
    }
    expect(faults).toEqual([])
  })
})
