// Pages and panels of the web UI on a phone with a touch screen.
import { join } from 'node:path'
import { writeFile } from 'node:fs/promises'
import { script, testFolder } from '@mcp-host/testkit'
import type { BrowserContext, Locator } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { accessFaults } from './web-axe.ts'
import type { ChatTab } from './web-host.ts'
import { NEEDS_BROWSER, WebHost } from './web-host.ts'
import { logIn, WebUsers } from './web-users.ts'

const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }
/** Pixels that a finger hits. */
const MIN_TARGET = 40
const POLICY = {
  rules: [
    {
      name: 'no mail to strangers',
      server: 'mail',
      tool: 'send',
      arguments: { to: '*@example.com' },
      effect: 'deny',
      reason: 'ask ann',
    },
    { name: 'admins may', roles: 'admin', effect: 'allow' },
  ],
}
const TOOLS = [
  {
    name: 'send_a_letter_to_everybody_in_the_address_book',
    description: 'Sends a letter, whose words are given, to all people of an address book.',
    inputSchema: { type: 'object', properties: { to: { type: 'string', title: 'Address' } } },
    answer: 'x'.repeat(300),
  },
  { name: 'remove', inputSchema: { type: 'object' } },
]
const [letter = TOOLS[1]] = TOOLS

/** Pages, and a text of each that is there once it is loaded. */
const PAGES = [
  ['servers', 'test'],
  ['account', 'user:ann'],
  ['approvals', '/a/path/that/is/long'],
  ['audit', 'user:ann'],
  ['users', 'bob'],
  ['limits', 'LIMIT_TOOL_CALLS'],
] as const

describe.skipIf(NEEDS_BROWSER !== '')(`a phone${NEEDS_BROWSER}`, () => {
  const open = new AsyncDisposableStack()
  let host: WebHost
  let context: BrowserContext
  let tab: ChatTab
  /** A chat with a tool call whose result is long. */
  let session: string

  const message = () => tab.page.getByLabel('Message', { exact: true })

  beforeAll(async () => {
    const folder = open.use(await testFolder())
    const policy = join(folder.path, 'policy.json')
    await writeFile(policy, JSON.stringify(POLICY))
    const env = {
      POLICY_CONFIG: policy,
      TOOL_APPROVAL: 'test.remove',
      LIMIT_TOOL_CALLS: '1000/d',
      LIMIT_TURNS: '2',
    }
    host = open.use(await WebHost.start({ asksForLogin: true, env, tools: TOOLS }))
    const users = await WebUsers.begin(host)
    await users.add('bob')
    context = await host.browser.newContext(PHONE)
    tab = await host.open(context)
    await logIn(tab.page, 'ann')
    const calls = [{ name: `test__${letter?.name}`, arguments: { to: 'y'.repeat(80) } }]
    await message().fill(script({ calls }, { text: 'sent' }))
    await tab.button('Send').click()
    await tab.done()
    session = tab.sessionId
    const remove = {
      name: 'test__remove',
      arguments: { path: `/a/path/that/is/long${'/x'.repeat(60)}` },
    }
    // It waits for permission.
    await expect(users.ask('/mcp/tools/call', remove)).rejects.toThrow('409')
  })
  afterAll(() => open.disposeAsync())

  beforeEach(() => {
    host.faults = []
  })
  afterEach(() => {
    expect(host.faults).toEqual([])
  })

  /** Shows a page of the phone. */
  async function show(place: string): Promise<void> {
    await tab.page.close()
    tab = await host.open(context, `/${place}`)
  }

  /** How many pixels of the page are beside the window. */
  const overflow = (): Promise<number> =>
    tab.page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth')

  async function expectFit(): Promise<void> {
    expect(await overflow()).toBeLessThanOrEqual(0)
    expect(await accessFaults(tab.page)).toEqual([])
  }

  /** Heights of the visible parts of the page that a locator finds, by their names. */
  async function heights(parts: Locator): Promise<Record<string, number>> {
    const found = await parts.filter({ visible: true }).all()
    const entries = found.map(async (part) => {
      const name = (await part.getAttribute('aria-label')) ?? (await part.innerText())
      return [name, (await part.boundingBox())?.height ?? 0] as const
    })
    return Object.fromEntries(await Promise.all(entries))
  }

  /** All of so many parts must be high enough for a finger. */
  async function expectTargets(parts: Locator, count: number): Promise<void> {
    await parts.first().waitFor()
    const all = Object.entries(await heights(parts))
    expect(all.length).toBeGreaterThanOrEqual(count)
    expect(all.filter(([, height]) => height < MIN_TARGET)).toEqual([])
  }

  test('Enter begins a line on a phone, whose keyboard opens at a touch only', async () => {
    await show('')
    await message().waitFor()
    expect(await tab.page.evaluate("document.activeElement.matches('body')")).toBe(true)
    await message().tap()
    await tab.page.keyboard.type('one')
    await tab.page.keyboard.press('Enter')
    await tab.page.keyboard.type('two')
    expect(await message().inputValue()).toBe('one\ntwo')
    await message().fill('')
  })

  test.each(PAGES)('the page %s fits a phone, and axe finds nothing', async (page, text) => {
    await show(`#/${page}`)
    await tab.page.getByText(text).filter({ visible: true }).first().waitFor()
    await expectFit()
  })

  test('filters of the audit log stand beside each other, and show their times whole', async () => {
    await show('#/audit')
    const boxOf = (label: string) => tab.page.getByLabel(label, { exact: true }).boundingBox()
    await tab.page.getByLabel('Principal').waitFor()
    expect((await boxOf('Action'))?.y).toBe((await boxOf('Principal'))?.y)
    expect((await boxOf('From'))?.width).toBeGreaterThan(300)
  })

  test('an audit entry of a tool with a long name shows its time beside its principal', async () => {
    await show('#/audit')
    const entry = tab.page.locator('.audit summary', { hasText: 'send_a_letter' }).first()
    const time = entry.locator('span').first()
    await time.waitFor()
    const [width = 0, room] = await time.evaluate((cell) => [cell.scrollWidth, cell.clientWidth])
    expect(width).toBeLessThanOrEqual(room ?? 0)
  })

  test('the page policy with a decision fits a phone, and axe finds nothing', async () => {
    await show('#/policy')
    await tab.page.getByLabel('Principal').fill('user:bob')
    await tab.page.getByLabel('Tool, as server.tool').fill('mail.send')
    await tab.page.getByLabel('Arguments as JSON').fill('{"to": "eve@example.com"}')
    await tab.button('Explain').tap()
    await tab.page.getByRole('status', { name: 'Decision' }).getByText('Denied').waitFor()
    await expectFit()
  })

  test('a chat with a long result and its events fit a phone, and axe finds nothing', async () => {
    await show(`#/chat/${session}`)
    await tab.page.getByText('sent', { exact: true }).waitFor()
    await tab.page.locator('.tool > summary').tap()
    await tab.page.getByText('x'.repeat(300)).waitFor()
    await expectFit()
    await show(`#/debug/${session}`)
    const conversation = tab.page.getByRole('region', { name: 'Conversation at this step' })
    await conversation.getByText('done: completed').waitFor()
    await expectFit()
  })

  test('what a finger touches in the head, the message field and the list of chats is high enough', async () => {
    await show(`#/chat/${session}`)
    await tab.page.getByText('sent', { exact: true }).waitFor()
    await tab.page.getByLabel('Message', { exact: true }).fill('Send it again')
    expect(await tab.page.evaluate("matchMedia('(pointer: coarse)').matches")).toBe(true)
    await expectTargets(tab.page.locator('.sidebar-button, .bar button, .bar a'), 4)
    await expectTargets(tab.page.locator('.composer').locator('button, label.button, select'), 5)
    await tab.page.locator('.sidebar-button').tap()
    await expectTargets(tab.page.locator('.session').locator('.entry, summary'), 2)
  })

  test('the settings of a chat fit a phone, and axe finds nothing', async () => {
    await show(`#/chat/${session}`)
    await tab.button('Settings').tap()
    const dialog = tab.page.getByRole('dialog')
    await dialog.getByLabel('System prompt').waitFor()
    await expectFit()
    const { width = 0, x = -1 } = (await dialog.boundingBox()) ?? {}
    expect(x).toBeGreaterThanOrEqual(0)
    expect(x + width).toBeLessThanOrEqual(PHONE.viewport.width)
  })

  test('the name of a model is shown whole', async () => {
    await show('')
    const model = 'claude-sonnet-4-5-20250929'
    await tab.change('**/api/chat/models', (answer) => ({
      ...answer,
      default: { provider: 'openai', model },
    }))
    const field = tab.page.locator('.composer .model select')
    await expect.poll(() => field.getAttribute('title')).toBe(`openai/${model}`)
    const [shown, whole] = await field.evaluate((element) => {
      const before = element.offsetWidth
      element.style.maxInlineSize = 'none'
      element.style.inlineSize = 'max-content'
      return [before, element.offsetWidth]
    })
    expect(shown).toBe(whole)
    expect(await overflow()).toBeLessThanOrEqual(0)
    await tab.page.unrouteAll()
  })

  test('the links of a chat fit a phone, and axe finds nothing', async () => {
    await show(`#/chat/${session}`)
    await tab.page.getByText('sent', { exact: true }).waitFor()
    await tab.page.locator('.sidebar-button').tap()
    await tab.page.getByLabel(/^More for .*everybody/).tap()
    await tab.button('Share').tap()
    const dialog = tab.page.getByRole('dialog')
    await tab.page.getByText('This chat has no links.').waitFor()
    await expectFit()
    await dialog.getByRole('button', { name: 'Create a link' }).tap()
    await dialog.getByLabel('The new link').waitFor()
    await expectFit()
    const { width = 0, x = -1 } = (await dialog.boundingBox()) ?? {}
    expect(x).toBeGreaterThanOrEqual(0)
    expect(x + width).toBeLessThanOrEqual(PHONE.viewport.width)
    // The menu that opened the dialog is hidden with the sidebar.
    await dialog.getByRole('button', { name: 'Close' }).tap()
    await expect.poll(() => tab.page.evaluate('document.activeElement.tagName')).toBe('MAIN')
  })
})
