// MCP apps in the web UI: what they can do, and what a hostile one cannot.
import { join } from 'node:path'
import {
  APP_TOOLS,
  appServer,
  eventually,
  readReports,
  script,
  testFolder,
} from '@mcp-host/testkit'
import type { BrowserContext, FrameLocator } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { ForeignHost } from './foreign-host.ts'
import { startForeignHost } from './foreign-host.ts'
import { accessFaults } from './web-axe.ts'
import type { ChatTab } from './web-host.ts'
import { NEEDS_BROWSER, WebHost } from './web-host.ts'
import { tabTo } from './web-keyboard.ts'

describe.skipIf(NEEDS_BROWSER !== '')(`MCP apps in the web UI${NEEDS_BROWSER}`, () => {
  const open = new AsyncDisposableStack()
  let host: WebHost
  let foreign: ForeignHost
  let reportFile: string
  let context: BrowserContext
  let tab: ChatTab

  beforeAll(async () => {
    const folder = open.use(await testFolder())
    foreign = open.use(await startForeignHost())
    reportFile = join(folder.path, 'reports.jsonl')
    host = open.use(
      await WebHost.start({
        env: { TOOL_APPROVAL: 'apps.remove' },
        tools: [{ name: 'echo', inputSchema: { type: 'object' } }],
        servers: { apps: appServer(reportFile, foreign.url) },
        toolCount: 1 + APP_TOOLS,
      }),
    )
  })
  afterAll(() => open.disposeAsync())

  beforeEach(async () => {
    host.faults = []
    context = await host.browser.newContext({ colorScheme: 'light' })
    tab = await host.open(context)
  })
  afterEach(async () => {
    await context.close()
    expect(foreign.hits).toEqual([])
  })

  /** The app of the newest message, inside of its sandbox. */
  const app = (): FrameLocator => tab.page.frameLocator('.app-frame').last().frameLocator('iframe')
  const card = () => tab.page.getByRole('region', { name: 'App of apps' })

  async function show(name: string, given: object = {}): Promise<void> {
    await tab.say(script({ calls: [{ name: `apps__${name}`, arguments: given }] }, { text: 'end' }))
    await tab.done()
  }

  const calls = async (tool: string) =>
    (await readReports(reportFile)).filter((each) => each.tool === tool)

  describe('an app', () => {
    afterEach(() => expect(host.faults).toEqual([]))

    test('gets the arguments and the result of its call, and calls its tools, also one for apps only', async () => {
      await show('board', { city: 'Rome' })
      await app().locator('#input', { hasText: '{"city":"Rome"}' }).waitFor()
      await app().locator('#result', { hasText: '{"items":["board","two"]}' }).waitFor()
      await app().getByRole('button', { name: 'Refresh' }).click()
      await app().locator('#answer', { hasText: 'refresh was called' }).waitFor()
      expect(await calls('refresh')).toEqual([{ tool: 'refresh', a: 1 }])
      await app().getByRole('button', { name: 'Submit' }).click()
      await app().locator('#answer', { hasText: '{}' }).waitFor()
    })

    test('has tools that no model is offered, or may call', async () => {
      const before = (await calls('refresh')).length
      await tab.say(script({ calls: [{ name: 'apps__refresh', arguments: {} }] }, { text: 'end' }))
      await tab.done()
      await tab.page.locator('.tool > summary').click()
      await tab.page.getByText(/no tool|not offered|unknown tool/i).waitFor()
      expect(await calls('refresh')).toHaveLength(before)
    })

    test('learns the theme, and its change', async () => {
      await show('board')
      await app().locator('#theme', { hasText: 'light' }).waitFor()
      await tab.page.emulateMedia({ colorScheme: 'dark' })
      await app().locator('#theme', { hasText: 'dark' }).waitFor()
    })

    test('is as high as it says, within limits, and as wide as the chat', async () => {
      await show('board')
      await app().getByRole('button', { name: 'Grow' }).click()
      await app().locator('#answer', { hasText: '{}' }).waitFor()
      const frame = tab.page.locator('.app-frame')
      await expect
        .poll(async () => (await frame.boundingBox())?.height, { timeout: 20_000 })
        .toBe(640)
      const width = (await frame.boundingBox())?.width ?? 0
      expect(width).toBeLessThanOrEqual((await card().boundingBox())?.width ?? 0)
    })

    test('calls a tool that needs permission only when its user allows it', async () => {
      await show('board')
      await app().getByRole('button', { name: 'Remove' }).click()
      const wish = card().getByRole('group', { name: 'Wish of the app of apps' })
      await wish.getByText('"b": 2').waitFor()
      expect(await calls('remove')).toEqual([])
      await wish.getByRole('button', { name: 'Do not allow' }).click()
      await app().locator('#answer', { hasText: 'does not allow' }).waitFor()
      await app().getByRole('button', { name: 'Remove' }).click()
      await wish.getByRole('button', { name: 'Allow', exact: true }).click()
      await app().locator('#answer', { hasText: 'remove was called' }).waitFor()
      expect(await calls('remove')).toEqual([{ tool: 'remove', b: 2 }])
    })

    test('adds a text to the message of its user, who sends it', async () => {
      await show('board')
      const message = tab.page.getByLabel('Message', { exact: true })
      await message.fill('my own words')
      await app().getByRole('button', { name: 'Say' }).click()
      await card().getByText('from the app').waitFor()
      expect(await message.inputValue()).toBe('my own words')
      await card().getByRole('button', { name: 'Put it in' }).click()
      await app().locator('#answer', { hasText: '{}' }).waitFor()
      expect(await message.inputValue()).toBe('my own words\n\nfrom the app')
      await expect.poll(() => tab.page.locator('.turn').count()).toBe(1)
    })

    test('opens no link that its user does not open', async () => {
      await show('board')
      await app().getByRole('button', { name: 'Link' }).click()
      await card().getByText(`${foreign.url}/opened`).waitFor()
      await card().getByRole('button', { name: 'Do not open it' }).click()
      await app().locator('#answer', { hasText: 'does not open' }).waitFor()
      await app().getByRole('button', { name: 'Link' }).click()
      const link = card().getByRole('link', { name: 'Open it in a new tab' })
      expect(await link.getAttribute('rel')).toBe('noopener noreferrer')
      expect(await link.getAttribute('href')).toBe(`${foreign.url}/opened`)
    })

    test('writes a log that its user can read', async () => {
      await show('board')
      await app().getByRole('button', { name: 'Log' }).click()
      await card().getByText('Log of the app').click()
      await card().getByText('info: <b>a line</b>').waitFor()
    })

    test('names the hosts that it wants to reach, and reaches them when its user agrees', async () => {
      await show('board')
      await card().getByText('asks to reach api.example.com, cdn.example.com').waitFor()
      const src = () => tab.page.locator('.app-frame').getAttribute('src')
      expect(await src()).toBe('/app-sandbox')
      // A click that meets the app's change of height may be lost.
      await app().locator('#result', { hasText: 'two' }).waitFor()
      await tab.button('Let it reach them').click()
      await expect
        .poll(src, { timeout: 20_000 })
        .toBe(
          '/app-sandbox?connect=https%3A%2F%2Fapi.example.com&resource=https%3A%2F%2Fcdn.example.com',
        )
      await app().locator('#result', { hasText: 'two' }).waitFor()
      await tab.button('Let it reach them').waitFor({ state: 'detached' })
    })

    test('keeps its state out of view, and is closed and shown again by its user', async () => {
      await show('board')
      await app().getByRole('button', { name: 'Refresh' }).click()
      await app().locator('#answer', { hasText: 'refresh was called' }).waitFor()
      const lines = Array.from({ length: 200 }, (_, index) => `line ${index}`).join('\n\n')
      await tab.say(script({ text: lines }))
      await tab.done(2)
      await tab.page.getByText('line 199', { exact: true }).waitFor()
      await app().locator('#answer', { hasText: 'refresh was called' }).waitFor()
      await tab.page.locator('.turns').hover()
      await tab.page.mouse.wheel(0, -20_000)
      await tab.button('Close the app').click()
      await tab.button('Show the app of apps').click()
      await app().locator('#answer').waitFor({ state: 'attached' })
      expect(await app().locator('#answer').textContent()).toBe('')
    })

    test('takes the focus only from its own buttons, not from a message that its user writes', async () => {
      const { page } = tab
      await show('board')
      await app().locator('#result', { hasText: 'two' }).waitFor()
      await tab.button('Close the app').click()
      const { promise: mayLoad, resolve: load } = Promise.withResolvers<void>()
      await page.route('**/mcp/resources/read', (route) => mayLoad.then(() => route.continue()))
      await tab.button('Show the app of apps').click()
      await page.getByLabel('Message', { exact: true }).fill('meanwhile')
      load()
      await tab.button('Close the app').waitFor()
      await page.locator('textarea:focus').waitFor()
      await tab.button('Close the app').click()
      await page.unroute('**/mcp/resources/read')
      await page.route('**/mcp/resources/read', (route) => route.fulfill({ status: 500 }))
      await tab.button('Show the app of apps').click()
      await page.locator('button:focus', { hasText: 'Try again' }).waitFor()
      await page.unroute('**/mcp/resources/read')
      await page.keyboard.press('Enter')
      await page.locator('button:focus', { hasText: 'Close the app' }).waitFor()
    })

    test('does not begin by itself after a reload, unless its message is the newest', async () => {
      await show('board')
      await tab.say(script({ text: 'more' }))
      await tab.done(2)
      await tab.page.reload()
      await tab.button('Show the app of apps').click()
      await app().locator('#result', { hasText: 'two' }).waitFor()
    })

    test('is opened, used, left in both directions and closed by keyboard', async () => {
      const { page } = tab
      await show('board')
      await app().locator('#result', { hasText: 'two' }).waitFor()
      await tabTo(page, 'Close the app', 'Shift+Tab')
      await page.keyboard.press('Enter')
      await page.locator('button:focus', { hasText: 'Show the app of apps' }).waitFor()
      await page.keyboard.press('Enter')
      await page.locator('button:focus', { hasText: 'Close the app' }).waitFor()
      await app().locator('#result', { hasText: 'two' }).waitFor()
      // For the page, the frame has the focus while a part of the app has it.
      const isInApp = () => page.evaluate("document.activeElement.matches('.app-frame')")
      await tabTo(page, 'Let it reach them')
      await page.keyboard.press('Tab')
      await app().locator('#refresh:focus').waitFor()
      expect(await isInApp()).toBe(true)
      await page.keyboard.press('Enter')
      await app().locator('#answer', { hasText: 'refresh was called' }).waitFor()
      for (const id of ['remove', 'say', 'link', 'grow', 'log', 'submit']) {
        await page.keyboard.press('Tab')
        await app().locator(`#${id}:focus`).waitFor()
      }
      await page.keyboard.press('Tab')
      await page.locator('button:focus').waitFor()
      expect(await isInApp()).toBe(false)
      await page.keyboard.press('Shift+Tab')
      await app().locator('#submit:focus').waitFor()
      await app().locator('#say').focus()
      await page.keyboard.press('Enter')
      await page.getByText('has a text for your message').waitFor()
      await tabTo(page, 'Leave it out')
      await page.keyboard.press('Enter')
      await page.locator('section.app:focus').waitFor()
      await tabTo(page, 'Let it reach them')
      await page.keyboard.press('Enter')
      await page.locator('section.app:focus').waitFor()
      await tabTo(page, 'Close the app')
    })

    test('passes the checks of axe with its page', async () => {
      await show('board')
      await app().getByRole('button', { name: 'Say' }).click()
      await card().getByText('from the app').waitFor()
      expect(await accessFaults(tab.page)).toEqual([])
    })

    test('that is missing leaves the result, and says what is wrong', async () => {
      await show('missing')
      await tab.page.getByText(/The app of apps cannot be shown: .*no ui:\/\/missing/).waitFor()
      await tab.page.locator('.tool > summary').click()
      await tab.page.getByText('missing was called').waitFor()
    })
  })

  describe('a hostile app', () => {
    /** The page goes on, and no dialog or error came from it. */
    async function expectIntact(): Promise<void> {
      expect(host.faults.filter((each) => !/content.security|a request to/i.test(each))).toEqual([])
      expect(context.pages()).toHaveLength(1)
      expect(new URL(tab.page.url()).origin).toBe(host.url)
      await tab.say(script({ text: 'still here' }))
      await tab.page.getByText('still here', { exact: true }).waitFor()
    }

    test('reaches nothing and nobody', async () => {
      await context.addCookies([{ name: 'secret', value: 'cookie', url: host.url }])
      await show('hostile')
      await eventually(async () => (await calls('report')).some(({ name }) => name === 'end'), {
        limitMs: 100_000,
        what: 'all attempts',
      })
      const outcomes = await calls('report')
      const done = outcomes.filter(({ outcome }) => outcome !== 'refused' && outcome !== 'silent')
      expect(done).toEqual([{ tool: 'report', name: 'end', outcome: 'end' }])
      expect(outcomes.length).toBeGreaterThan(45)
      // Every other call would be one of another server, of a model, or past the limits.
      expect((await calls('plan')).concat(await calls('hostile'))).toHaveLength(1)
      expect((await readReports(reportFile)).some((each) => 'past' in each)).toBe(false)
      expect(await host.stack.journal()).toEqual([])
      await app().getByText('tried everything').waitFor()
      const urls = tab.page.frames().map((frame) => frame.url())
      expect(urls.filter((url) => url === `${host.url}/`)).toHaveLength(0)
      await expectIntact()
    })

    test.each(['leave', 'leave-form'])('does not leave its frame (%s)', async (name) => {
      await show(name)
      await expect.poll(() => host.faults.join(), { timeout: 20_000 }).toContain("frame-src 'none'")
      await expectIntact()
    })

    test.each(['flood', 'flood-past'])(
      'that sends too many messages (%s) is stopped',
      async (name) => {
        await show(name)
        await tab.page.getByText('The app of apps was stopped: it sent too many messages').waitFor()
        await tab.button('Start the app again').waitFor()
        expect(await tab.page.locator('iframe').count()).toBe(0)
        await expectIntact()
      },
    )

    test('that never begins is given up, and the page goes on meanwhile', async () => {
      await show('silent')
      await tab.page.locator('.app-frame').waitFor()
      await expectIntact()
      await tab.page.getByText('it did not start in time').waitFor({ timeout: 60_000 })
    })
  })

  test('the sandbox has no origin, even when it is opened alone', async () => {
    const page = await context.newPage()
    await page.goto(`${host.url}/app-sandbox`)
    expect(await page.evaluate('self.origin')).toBe('null')
    await expect(page.evaluate('document.cookie')).rejects.toThrow('sandboxed')
    await expect(page.evaluate('localStorage.length')).rejects.toThrow('sandboxed')
  })
})
