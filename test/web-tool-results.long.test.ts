// What tools return, by type and size, and tools that are tried on the page of the servers, in a real Chromium.
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { HostApi } from '@mcp-host/client'
import { script, testFolder } from '@mcp-host/testkit'
import type { BrowserContext, Locator } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { accessFaults } from './web-axe.ts'
import type { ChatTab } from './web-host.ts'
import { NEEDS_BROWSER, WebHost } from './web-host.ts'
import { Pictures } from './web-pictures.ts'

const inputSchema = { type: 'object', properties: { text: { type: 'string' } } }
const nested = { type: 'object', properties: { list: { type: 'array', items: {} } } }
const base64 = (text: string): string => Buffer.from(text).toString('base64')
/** 0.1 s of silence at 8,000 one-byte samples a second. */
const SILENCE = Buffer.concat([
  Buffer.from(
    '524946464403000057415645666d74201000000001000100401f0000401f0000010008006461746120030000',
    'hex',
  ),
  Buffer.alloc(800, 128),
]).toString('base64')
/** Markdown, HTML, tabs, and spaces at the ends of lines. */
const EXACT = '# **a** <b>&amp;</b>  \n\n\tcol\u00a01\t\u{1f600}\n\n\n  "last" \n'
/** More rows than are shown at first. */
const TRAINS = Array.from({ length: 57 }, (_, index) => ({
  train: `IC ${500 + index}`,
  seats: 40 - (index % 7),
  ...(index === 0 ? { note: '<b>full</b>' } : {}),
}))
const TRIP = {
  city: 'Rome',
  days: 3,
  hotel: { name: 'Alba', tags: ['quiet', 'near'], rooms: [{ bed: 2, free: true }] },
  guide: null,
  extras: [],
}
/** A picture of 2 times 1 pixels. */
const PICTURE =
  'iVBORw0KGgoAAAANSUhEUgAAAAIAAAABCAIAAAB7QOjdAAAADUlEQVR4nGP4zwAE/wEHAAH/4iOeWQAAAABJRU5ErkJggg=='
const BLOCKS = [
  { type: 'audio', mimeType: 'audio/wav', data: SILENCE },
  { type: 'resource', resource: { uri: 'file:///notes/day.txt', text: 'Buy milk' } },
  {
    type: 'resource',
    resource: { uri: 'file:///page.html', mimeType: 'text/html', blob: base64('<b>page</b>') },
  },
  {
    type: 'resource_link',
    uri: 'https://example.com/report',
    name: 'Report',
    description: 'of May',
  },
  { type: 'resource_link', uri: 'javascript:alert(1)', name: 'Not a page' },
  { type: 'future', value: 7 },
]

describe.skipIf(NEEDS_BROWSER !== '')(`results of tools in the web UI${NEEDS_BROWSER}`, () => {
  const open = new AsyncDisposableStack()
  let host: WebHost
  let context: BrowserContext
  let tab: ChatTab

  beforeAll(async () => {
    const policy = join(open.use(await testFolder()).path, 'policy.json')
    const rules = [{ tool: 'pay', effect: 'approve' }]
    await writeFile(policy, JSON.stringify({ rules }))
    host = open.use(
      await WebHost.start({
        env: { POLICY_CONFIG: policy },
        tools: [
          { name: 'types', inputSchema, answer: 'by type', content: BLOCKS },
          { name: 'large', inputSchema, lines: 80_000 },
          { name: 'blot', inputSchema, pictureBytes: 100 },
          {
            name: 'draw',
            inputSchema,
            content: [{ type: 'image', mimeType: 'image/png', data: PICTURE }],
          },
          { name: 'pay', inputSchema, answer: 'paid' },
          { name: 'broken', inputSchema, answer: 'the disk is full', isError: true },
          { name: 'nested', inputSchema: nested },
          { name: 'trains', inputSchema, answer: JSON.stringify(TRAINS) },
          { name: 'trip', inputSchema, answer: JSON.stringify(TRIP) },
          { name: 'exact', inputSchema, answer: EXACT, content: [{ type: 'text', text: 'end ' }] },
        ],
      }),
    )
  })
  afterAll(() => open.disposeAsync())
  beforeEach(async () => {
    ;({ context, tab } = await host.visit({ permissions: ['clipboard-read', 'clipboard-write'] }))
  })
  afterEach(() => host.leave(context))

  /** Calls a tool in the chat. */
  async function closedCardOf(tool: string): Promise<Locator> {
    await tab.say(script({ calls: [{ name: `test__${tool}`, arguments: {} }] }, { text: 'end' }))
    await tab.done()
    return tab.page.locator('.answer .tool')
  }

  /** Calls a tool in the chat, and opens its card. */
  async function cardOf(tool: string): Promise<Locator> {
    const card = await closedCardOf(tool)
    await card.locator('summary').first().click()
    return card
  }

  /** Opens a tool on the page of the servers. */
  async function toolOf(name: string): Promise<Locator> {
    await tab.page.goto(`${host.url}/#/servers/test/${name}`)
    return tab.page.getByRole('region', { name, exact: true })
  }

  test('a picture of a result is shown below its closed card, and in the open one', async () => {
    const card = await closedCardOf('draw')
    const width = "document.querySelector('.pictures img')?.naturalWidth"
    await expect.poll(() => tab.page.evaluate(width)).toBe(2)
    await card.locator('summary').first().click()
    const inside = "document.querySelector('.tool img')?.naturalWidth"
    await expect.poll(() => tab.page.evaluate(inside)).toBe(2)
    expect(await tab.page.locator('.pictures').count()).toBe(0)
  })

  test('a closed card leaves no gap below its chip', async () => {
    const card = await closedCardOf('trip')
    const heightOf = async (each: Locator) => (await each.boundingBox())?.height
    const chip = await heightOf(card.locator('summary'))
    expect(chip).toBeGreaterThan(20)
    expect(await heightOf(tab.page.locator('.answer .calls'))).toBe(chip)
  })

  test('a picture that is none is named', async () => {
    const card = await cardOf('blot')
    await card.getByText('A picture of the tool cannot be shown (image/png).').waitFor()
  })

  test('sounds, files, resources and links of a result are shown by their type', async () => {
    const card = await cardOf('types')
    await expect
      .poll(() => tab.page.evaluate(`document.querySelector('audio').duration`))
      .toBeCloseTo(0.1)
    await card.getByText('file:///notes/day.txt').waitFor()
    await card.getByText('Buy milk').waitFor()
    const loading = tab.page.waitForEvent('download')
    await card.getByRole('link', { name: 'Download page.html' }).click()
    const file = await loading
    expect(file.suggestedFilename()).toBe('page.html')
    expect(await readFile(await file.path(), 'utf8')).toBe('<b>page</b>')
    const report = card.getByRole('link', { name: 'Report' })
    expect(await report.getAttribute('href')).toBe('https://example.com/report')
    await card.getByText('of May').waitFor()
    await card.getByText('Not a page').waitFor()
    expect(await card.getByRole('link', { name: 'Not a page' }).count()).toBe(0)
    await card.locator('.pairs', { hasText: 'future' }).waitFor()
    await new Pictures(tab.page).take('tool-files', card.locator('.sheet'))
  })

  test('a list of flat objects is a table, whose text is one press away', async () => {
    const card = await cardOf('trains')
    const table = card.getByRole('table')
    const rows = () => table.locator('tbody tr').count()
    expect(await table.getByRole('columnheader').allInnerTexts()).toEqual([
      'train',
      'seats',
      'note',
    ])
    const first = table.locator('tbody tr').first()
    expect(await first.getByRole('cell').allInnerTexts()).toEqual(['IC 500', '40', '<b>full</b>'])
    expect(await rows()).toBe(50)
    await card.getByRole('button', { name: 'Show more (7 rows are left)' }).click()
    expect(await rows()).toBe(57)
    await card.getByRole('button', { name: 'Raw', pressed: false }).click()
    expect(await card.locator('pre').innerText()).toContain(JSON.stringify(TRAINS).slice(0, 900))
    expect(await table.count()).toBe(0)
    await card.getByRole('button', { name: 'Raw', pressed: true }).click()
    await table.waitFor()
  })

  test('other JSON is a tree that unfolds', async () => {
    const card = await cardOf('trip')
    const tree = card.locator('.json > .pairs')
    const shown = async () => (await tree.innerText()).split(/\s*\n\s*/)
    const trip = ['city', 'Rome', 'days', '3', 'hotel', '3 fields', 'guide', 'null', 'extras']
    expect(await shown()).toEqual([...trip, 'none'])
    await tree.getByText('3 fields').click()
    await tree.getByText('2 items').click()
    await tree.getByText('1 item', { exact: true }).click()
    await tree.getByRole('cell', { name: 'true' }).waitFor()
    expect(await tree.getByText('near').count()).toBe(1)
    await new Pictures(tab.page).take('tool-tree', card.locator('.sheet'))
    expect(await accessFaults(tab.page)).toEqual([])
  })

  test('the result of a tool is copied exactly as the tool wrote it', async () => {
    const copied = (): Promise<unknown> => tab.page.evaluate('navigator.clipboard.readText()')
    const card = await cardOf('exact')
    await card.getByRole('button', { name: 'Copy the result' }).click()
    await card.getByRole('button', { name: 'Copied' }).waitFor()
    expect(await copied()).toBe(`${EXACT}\nend `)
    await tab.page.evaluate("navigator.clipboard.writeText('')")
    const tool = await toolOf('exact')
    await tool.getByRole('button', { name: 'Try it' }).click()
    await tool.getByRole('button', { name: 'Copy the result' }).click()
    await tool.getByRole('button', { name: 'Copied' }).waitFor()
    expect(await copied()).toBe(`${EXACT}\nend `)
  })

  test('a call that failed leads to its server and its tool', async () => {
    await cardOf('broken')
    const token = (await new HostApi({ url: host.stack.url }).share(tab.sessionId)).url
      .split('/')
      .at(-1)
    const failure = tab.page.locator('.answer .box', { hasText: 'the disk is full' })
    await failure.getByRole('link', { name: 'Look at the server' }).click()
    await tab.page.getByRole('heading', { name: 'test', exact: true }).waitFor()
    await tab.page.goBack()
    await failure.getByRole('link', { name: 'Try the tool' }).click()
    await tab.page.getByRole('region', { name: 'broken', exact: true }).waitFor()
    await tab.page.goto(`${host.url}/#/shared/${token}`)
    await failure.waitFor()
    expect(await failure.getByRole('link').count()).toBe(0)
  })

  test('a result that the host keeps apart is loaded whole, and read by pages', async () => {
    const card = await cardOf('large')
    const end = card.getByText('line 79999', { exact: false })
    const apart = card.getByText('This is the beginning')
    await apart.waitFor()
    await new Pictures(tab.page).take('tool-apart', apart, card.getByText('Load the whole result'))
    const download = card.getByRole('link', { name: 'Download it' })
    const whole = await context.request.get((await download.getAttribute('href')) ?? '')
    expect(await whole.text()).toContain('line 79999')
    await card.getByRole('button', { name: 'Load the whole result' }).click()
    await card.getByText('This is the beginning').waitFor({ state: 'detached' })
    expect(await end.count()).toBe(0)
    const more = card.getByRole('button', { name: 'Show more' })
    expect(await more.innerText()).toMatch(/[\d,]{6} lines are left/)
    await more.click()
    await card.getByText('line 500', { exact: false }).waitFor()
  })

  test('a tool that needs permission is tried, once the user allows it', async () => {
    const tool = await toolOf('pay')
    await tool.getByLabel('text').fill('7 euros')
    await tool.getByRole('button', { name: 'Try it' }).click()
    const question = tool.getByRole('region', { name: 'Permission for test__pay' })
    await question.getByText('7 euros').waitFor()
    await question.getByRole('button', { name: 'Do not allow' }).click()
    await tool.getByText('You did not allow the call').waitFor()
    await tool.getByRole('button', { name: 'Try it' }).click()
    await question.getByRole('button', { name: 'Allow', exact: true }).press('Enter')
    await tool.getByText('paid').waitFor()
    const calls = (await host.stack.journal()).filter(({ tool: name }) => name === 'pay')
    expect(calls).toEqual([expect.objectContaining({ arguments: { text: '7 euros' } })])
  })

  test('arguments that need JSON are written as JSON, and invalid ones are reported', async () => {
    const tool = await toolOf('nested')
    const text = tool.getByLabel('Arguments as JSON')
    await text.fill('[1]')
    await tool.getByRole('button', { name: 'Try it' }).click()
    await tool.getByRole('alert').filter({ hasText: 'Arguments as JSON' }).waitFor()
    await text.fill('{"list": "none"}')
    await tool.getByRole('button', { name: 'Try it' }).click()
    await tool.getByText('list', { exact: false }).first().waitFor()
    await text.fill('{"list": [1, 2]}')
    await tool.getByRole('button', { name: 'Try it' }).click()
    await tool.locator('.pairs', { hasText: 'list' }).getByText('2 items').waitFor()
  })
})
