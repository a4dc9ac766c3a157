// Details of answers in a real Chromium: tables, the progress of tool calls, and costs.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { HostApi } from '@mcp-host/client'
import { eventually, script, testFolder } from '@mcp-host/testkit'
import type { BrowserContext } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { costText } from '../packages/web/src/state/cost-text.ts'
import type { ChatTab } from './web-host.ts'
import { NEEDS_BROWSER, WebHost } from './web-host.ts'

const inputSchema = { type: 'object' }
/** For a million tokens. */
const PRICES = { input: 400, output: 1_200 }
const TABLE = `
| Plan | Left | Centre | Right |
| ---- | :--- | :----: | ----: |
| **Small** | a | b | 5 |
| Large | c | \`d\` | 15 |
`
/** In the page: the cells of the tables in answers, row by row: element, text and alignment. */
const CELLS = `Array.from(document.querySelectorAll('.answer table tr'), (row) =>
  Array.from(row.cells, (cell) =>
    [cell.localName, cell.innerText, getComputedStyle(cell).textAlign].join(' ')))`

interface Used {
  readonly input: number
  readonly output: number
  readonly cost: number
}

describe.skipIf(NEEDS_BROWSER !== '')(`details of answers in the web UI${NEEDS_BROWSER}`, () => {
  const open = new AsyncDisposableStack()
  let host: WebHost
  let api: HostApi
  let context: BrowserContext
  let tab: ChatTab

  beforeAll(async () => {
    const config = join(open.use(await testFolder()).path, 'llm.json')
    const providers = { demo: { models: { 'demo-1': { prices: PRICES } } } }
    await writeFile(config, JSON.stringify({ providers }))
    const slow = { inputSchema, delayMs: 100_000 }
    host = open.use(
      await WebHost.start({
        env: { LLM_CONFIG: config },
        tools: [
          { name: 'look', inputSchema, answer: 'found it' },
          { ...slow, name: 'copy', notices: 3, notice: { total: 8, message: 'Copies a file' } },
          { ...slow, name: 'count', notices: 3, notice: { total: 8 } },
          { ...slow, name: 'search', notices: 3 },
        ],
      }),
    )
    api = new HostApi({ url: host.stack.url })
  })
  afterAll(() => open.disposeAsync())

  beforeEach(async () => {
    ;({ context, tab } = await host.visit())
  })
  afterEach(() => host.leave(context))

  test('a table has header cells, body cells and columns with their alignment', async () => {
    await tab.say(script({ text: TABLE }))
    await tab.done()
    expect(await tab.page.evaluate(CELLS)).toEqual([
      ['th Plan start', 'th Left start', 'th Centre center', 'th Right end'],
      ['td Small start', 'td a start', 'td b center', 'td 5 end'],
      ['td Large start', 'td c start', 'td d center', 'td 15 end'],
    ])
    const table = tab.page.getByRole('table')
    expect(await table.locator('thead').getByRole('columnheader').count()).toBe(4)
    expect(await table.locator('tbody').getByRole('cell').count()).toBe(8)
  })

  test.each([
    { tool: 'copy', bar: { value: 3, max: 8, position: 3 / 8 }, state: 'Copies a file' },
    { tool: 'count', bar: { value: 3, max: 8, position: 3 / 8 }, state: '3 of 8' },
    // Without a total, nobody knows how much is left.
    { tool: 'search', bar: { value: 0, max: 1, position: -1 }, state: 'Running' },
  ])('a running call shows the progress of $tool: $state', async ({ tool, bar, state }) => {
    await tab.say(script({ calls: [{ name: `test__${tool}`, arguments: {} }] }, { text: 'end' }))
    const card = tab.page.locator('.answer .tool')
    const progress = card.getByRole('progressbar', { name: 'Progress' })
    await progress.waitFor()
    await expect
      .poll(() =>
        tab.page.evaluate(`(({ value, max, position }) => ({ value, max, position }))(
          document.querySelector('.tool progress'))`),
      )
      .toEqual(bar)
    expect(await card.locator('.state').innerText()).toBe(state)
    await card.getByRole('button', { name: 'Stop this call' }).click()
    await tab.done()
    expect(await progress.count()).toBe(0)
  })

  test('the cost of an answer and of its chat are those of the API', async () => {
    await tab.say(script({ text: 'the first answer' }))
    await tab.done()
    const first = await usedBy(1)
    const calls = [{ name: 'test__look', arguments: {} }]
    await tab.say(script({ calls }, { text: 'it is there' }))
    await tab.done(2)
    const all = await usedBy(3)
    const second = {
      input: all.input - first.input,
      output: all.output - first.output,
      cost: all.cost - first.cost,
    }
    expect(all.cost).toBeCloseTo((all.input * PRICES.input + all.output * PRICES.output) / 1e6, 9)
    await expect.poll(ends).toEqual([textOf(first), textOf(second)])
    // The history has what the answers have used.
    const { messages } = await api.messages(tab.sessionId)
    const { usage } = messages.find(({ role }) => role === 'assistant')?.metadata ?? {}
    expect(usage).toEqual({
      inputTokens: first.input,
      outputTokens: first.output,
      cost: first.cost,
      ...(usage?.isEstimate === undefined ? {} : { isEstimate: usage.isEstimate }),
    })
    await tab.page.reload()
    await tab.done(2)
    await expect.poll(ends).toEqual([textOf(first), textOf(second)])
    await tab.button('Settings').click()
    const row = tab.page.getByRole('row', { name: 'demo/demo-1' })
    await row.waitFor()
    const shown = (await row.getByRole('cell').allInnerTexts()).map((text) =>
      text.replace('about ', ''),
    )
    expect(shown).toEqual([`${all.input}`, `${all.output}`, costText(all.cost)])
  })

  /** What the API says that the chat has used, once so many generations count. */
  async function usedBy(generations: number): Promise<Used> {
    // The record of the session is written a little after the answer.
    const counted = async () => {
      const session = await api.session(tab.sessionId).catch(() => undefined)
      return session?.usage.find((each) => each.generations === generations)
    }
    const used = await eventually(counted, { what: `usage of ${generations} generations` })
    const { inputTokens: input = NaN, outputTokens: output = NaN, cost = NaN } = used
    return { input, output, cost }
  }

  /** The figures at the end of each answer. */
  const ends = (): Promise<string[][]> =>
    tab.page.evaluate(`Array.from(document.querySelectorAll('.turn-end .actions'), (end) =>
      Array.from(end.querySelectorAll('.num'), (each) => each.innerText).slice(-2))`)
  const textOf = ({ input, output, cost }: Used): string[] => [
    `${input} tokens in, ${output} out`,
    `cost ${costText(cost)}`,
  ]
})
