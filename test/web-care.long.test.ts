// What users do in haste, or in two tabs: nothing of theirs is lost, and they are told what did not succeed.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { HostApi } from '@mcp-host/client'
import { script, testFolder } from '@mcp-host/testkit'
import type { BrowserContext } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { ChatTab } from './web-host.ts'
import { NEEDS_BROWSER, WebHost } from './web-host.ts'

/** Of the operating system, in ms. */
const DOUBLE_CLICK_MS = 50
const form = {
  message: 'Who travels?',
  requestedSchema: {
    type: 'object',
    properties: { name: { type: 'string' }, age: { type: 'integer' } },
  },
}
const asks = script(
  {
    calls: [{ name: 'asker__ask', arguments: { method: 'elicitation/create', params: form } }],
  },
  { text: 'end' },
)

describe.skipIf(NEEDS_BROWSER !== '')(`hasty users of the web UI${NEEDS_BROWSER}`, () => {
  const open = new AsyncDisposableStack()
  let folder: string
  let host: WebHost
  let api: HostApi
  let context: BrowserContext
  let tab: ChatTab

  beforeAll(async () => {
    folder = open.use(await testFolder()).path
    const program = join(import.meta.dirname, '..', 'packages/testkit/fixtures/asking-server.ts')
    host = open.use(
      await WebHost.start({
        env: { TOOL_APPROVAL: 'test.remove' },
        tools: [{ name: 'remove', inputSchema: { type: 'object' } }],
        servers: { asker: { command: process.execPath, args: [program], scope: 'session' } },
        toolCount: 2,
      }),
    )
    api = new HostApi({ url: host.stack.url })
  })
  afterAll(() => open.disposeAsync())

  beforeEach(async () => {
    ;({ context, tab } = await host.visit({ viewport: { width: 1_280, height: 720 } }))
    await tab.page.getByText('Ask for something a tool can do.').waitFor()
  })
  afterEach(() => host.leave(context))

  const files = () => tab.page.locator('.composer .files li')
  const attach = (...names: string[]): Promise<void> =>
    tab.page.getByLabel('Attach').setInputFiles(names.map((name) => join(folder, name)))
  const focus = (): Promise<unknown> =>
    tab.page.evaluate('document.activeElement.closest("article, textarea, button")?.className')

  async function menu(action: string): Promise<void> {
    await tab.page.locator('.session:has([aria-current]) summary').click()
    await tab.button(action).waitFor()
  }

  async function begin(text = 'kept'): Promise<void> {
    await tab.say(script({ text }))
    await tab.done()
  }

  test('a double click does not delete a chat', async () => {
    await begin()
    await menu('Delete')
    const row = tab.page.locator('.session')
    await tab.button('Delete').dblclick({ delay: DOUBLE_CLICK_MS })
    await tab.button('Erase it for ever').waitFor()
    const { sessionId } = tab
    expect(await api.session(sessionId)).toMatchObject({ messages: 1 })
    await tab.button('Erase it for ever').click()
    await row.waitFor({ state: 'detached' })
    await expect(api.session(sessionId)).rejects.toThrow('no session')
  })

  test('the menu of a chat at the lower edge is in view, and closes with a press elsewhere', async () => {
    await tab.page.setViewportSize({ width: 1_280, height: 500 })
    await begin()
    await menu('Delete')
    /** How much of the menu is below the list, in pixels. */
    const below =
      "[...document.querySelectorAll('.menu[open] .menu-list, .side-list')].map((each) => each.getBoundingClientRect().bottom)"
    await expect
      .poll(async () => {
        const [list = NaN, shown = NaN] = await tab.page.evaluate<number[]>(below)
        return shown - list
      })
      .toBeLessThanOrEqual(0)
    await tab.page.locator('.turns').click()
    await tab.button('Delete').waitFor({ state: 'hidden' })
  })

  test('an export that fails is reported', async () => {
    await begin()
    await menu('Export as JSON')
    await host.stack.kill('gateway')
    try {
      await tab.button('Export as JSON').click()
      await tab.page.getByText('The chat was not exported: no gateway answers').waitFor()
    } finally {
      await host.stack.restart('gateway')
    }
  })

  test('more files than a message takes, and an empty one, are named', async () => {
    const names = Array.from({ length: 17 }, (_, index) => `file${index}.txt`)
    for (const name of [...names, 'empty.txt'])
      await writeFile(join(folder, name), name === 'empty.txt' ? '' : name)
    await attach('empty.txt')
    await files().filter({ hasText: 'is empty' }).waitFor()
    await tab.button('Remove empty.txt').click()
    await attach(...names)
    const over = files().filter({ hasText: 'a message takes 16 files at most' })
    expect(await over.innerText()).toContain('file16.txt')
    expect(await tab.button('Send').isDisabled()).toBe(true)
    // The focus stays in the list.
    await tab.button('Remove file16.txt').focus()
    await tab.page.keyboard.press('Enter')
    await tab.page.locator('[aria-label="Remove file15.txt"]:focus').waitFor()
    expect(await files().count()).toBe(16)
  })

  test('a file that is chosen without a gateway is stored with the next one', async () => {
    await writeFile(join(folder, 'late.txt'), 'late')
    await begin()
    await host.stack.kill('gateway')
    try {
      await attach('late.txt')
      await files().filter({ hasText: 'is stored after reconnecting' }).waitFor()
    } finally {
      await host.stack.restart('gateway')
    }
    await expect.poll(() => files().innerText(), { timeout: 20_000 }).toBe('late.txt')
    await tab.say(script({ text: 'read' }))
    await tab.done(2)
    const { messages } = await api.messages(tab.sessionId)
    expect(messages.at(-2)?.metadata.attachments).toMatchObject([{ name: 'late.txt' }])
  })

  test('a file that is dropped beside the composer goes along', async () => {
    await writeFile(join(folder, 'dropped.txt'), 'dropped')
    const devtools = await context.newCDPSession(tab.page)
    await tab.page.evaluate('new Promise(requestAnimationFrame)')
    const data = { items: [], files: [join(folder, 'dropped.txt')], dragOperationsMask: 1 }
    for (const type of ['dragEnter', 'dragOver', 'drop'] as const)
      await devtools.send('Input.dispatchDragEvent', { type, x: 700, y: 200, data })
    await files().filter({ hasText: 'dropped.txt' }).waitFor()
    expect(context.pages()).toHaveLength(1)
  })

  test('an open editor keeps its text while other pages are shown, and when another tab makes a version', async () => {
    await begin()
    const editor = tab.page.getByLabel('Your message')
    await tab.button('Edit').click()
    await editor.fill('my words')
    await tab.page.goto(`${host.url}/#/servers`)
    await tab.page.locator('.thread').waitFor({ state: 'detached' })
    await tab.page.goBack()
    expect(await editor.inputValue()).toBe('my words')
    const other = await host.open(context, `/#/chat/${tab.sessionId}`)
    await other.button('Answer again').click()
    await other.page.getByText('2 of 2').waitFor()
    await other.done()
    await tab.page.bringToFront()
    await tab.page.locator('.turn[data-state=done]').waitFor()
    const version = "document.querySelector('.turn').dataset.message"
    const second = await other.page.evaluate(version)
    await expect.poll(() => tab.page.evaluate(version)).toBe(second)
    expect(await editor.inputValue()).toBe('my words')
    await tab.button('Keep as it was').click()
    await tab.page.getByText('2 of 2').waitFor()
    await tab.page.goto(`${host.url}/#/servers`)
    await tab.page.goBack()
    await tab.page.getByText('2 of 2').waitFor()
    expect(await editor.count()).toBe(0)
  })

  test('two tabs that answer again at once show the versions as the history has them', async () => {
    await begin()
    const other = await host.open(context, `/#/chat/${tab.sessionId}`)
    await other.done()
    const at = Date.now() + 500
    for (const { page } of [tab, other])
      await page.evaluate(`setTimeout(
        () => document.querySelector('[aria-label="Answer again"]').click(), ${at} - Date.now())`)
    await expect
      .poll(async () => (await api.messages(tab.sessionId)).messages[0]?.metadata.branches)
      .toHaveLength(3)
    for (const { page } of [tab, other]) {
      await page.locator('.turn[data-state=done]').waitFor()
      await expect.poll(() => page.locator('.turn').count()).toBe(1)
      await page.getByText(/^[23] of 3$/).waitFor()
    }
  })

  test('values of a form stay while another page is shown; the focus stays in the turn', async () => {
    await tab.say(asks)
    const name = tab.page.locator('.asks').getByLabel('name')
    await name.fill('Ann')
    await tab.page.goto(`${host.url}/#/servers`)
    await tab.page.goBack()
    expect(await name.inputValue()).toBe('Ann')
    const age = tab.page.locator('.asks').getByLabel('age')
    await age.fill('12345678901234567890')
    await name.press('Enter')
    // The browser says what is wrong.
    expect(await age.evaluate((field) => field.matches(':invalid'))).toBe(true)
    await age.fill('7')
    await name.press('Enter')
    await tab.done()
    expect(await focus()).toBe('turn')
  })

  test('the focus stays in the turn after a permission', async () => {
    await tab.say(script({ calls: [{ name: 'test__remove', arguments: {} }] }, { text: 'end' }))
    await tab.button('Allow').focus()
    await tab.page.keyboard.press('Enter')
    await tab.done()
    expect(await focus()).toBe('turn')
  })

  test('text from right to left is laid out so, and code is not', async () => {
    const text = 'مرحبا English\n\n- واحد\n- اثنان\n\n```\nمرحبا\n```'
    await tab.say(script({ text }))
    await tab.done()
    const directions =
      "['p', 'ul', 'pre'].map((name) => getComputedStyle(document.querySelector(`.markdown ${name}`)).direction)"
    expect(await tab.page.evaluate(directions)).toEqual(['rtl', 'rtl', 'ltr'])
  })

  test('a browser that refuses its storage shows the page, and chats', async () => {
    const other = await host.browser.newContext()
    await other.addInitScript(`for (const name of ['localStorage', 'sessionStorage'])
      Object.defineProperty(window, name, { get() { throw new DOMException('refused', 'SecurityError') } })`)
    const blocked = await host.open(other)
    await blocked.say(script({ text: 'without cookies' }))
    await blocked.done()
    expect(await blocked.answers()).toBe('without cookies')
    await blocked.button('Theme: system').click()
    await blocked.button('Theme: light').click()
    await blocked.button('Theme: dark').waitFor()
    expect(host.faults).toEqual([])
    await other.close()
  })
})
