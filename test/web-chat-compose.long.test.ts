// The composer of the web UI: prompts and resources of MCP servers, pasted and dropped files; forms and pages of tools.
import { writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { HostApi, MAX_MESSAGE_LENGTH } from '@mcp-host/client'
import { script, testFolder } from '@mcp-host/testkit'
import type { BrowserContext, Locator } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { accessFaults } from './web-axe.ts'
import type { ChatTab } from './web-host.ts'
import { NEEDS_BROWSER, WebHost } from './web-host.ts'

const everything = createRequire(import.meta.url).resolve(
  '@modelcontextprotocol/server-everything/package.json',
)
const servers = {
  everything: {
    command: process.execPath,
    args: [join(dirname(everything), 'dist/index.js'), 'stdio'],
  },
  asker: {
    command: process.execPath,
    args: [join(import.meta.dirname, '..', 'packages/testkit/fixtures/asking-server.ts')],
    scope: 'session',
  },
}
const ONE_PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

describe.skipIf(NEEDS_BROWSER !== '')(`the composer of the web UI${NEEDS_BROWSER}`, () => {
  let host: WebHost
  let context: BrowserContext
  let tab: ChatTab

  beforeAll(async () => {
    const tools = [{ name: 'look', inputSchema: { type: 'object' } }]
    host = await WebHost.start({ tools, servers, toolCount: 14 })
  })
  afterAll(() => host[Symbol.asyncDispose]())

  beforeEach(async () => {
    ;({ context, tab } = await host.visit({ permissions: ['clipboard-read', 'clipboard-write'] }))
  })
  afterEach(() => host.leave(context))

  const message = () => tab.page.getByLabel('Message', { exact: true })
  const options = () => tab.page.getByRole('listbox', { name: 'Suggestions' }).getByRole('option')

  async function storedAttachments(): Promise<string[]> {
    const { messages } = await new HostApi({ url: host.stack.url }).messages(tab.sessionId)
    return messages.flatMap(({ metadata }) =>
      (metadata.attachments ?? []).map(({ name, mimeType }) => `${name} ${mimeType}`),
    )
  }

  test('a prompt is chosen by keys, its arguments are filled in, and its text is in the message', async () => {
    await message().focus()
    await tab.page.keyboard.type('/')
    await options().nth(1).waitFor()
    expect(await options().count()).toBeGreaterThan(2)
    expect(await accessFaults(tab.page)).toEqual([])
    await tab.page.keyboard.press('ArrowDown')
    expect(await options().nth(1).getAttribute('aria-selected')).toBe('true')
    expect(await message().getAttribute('aria-activedescendant')).toBe(
      await options().nth(1).getAttribute('id'),
    )
    await tab.page.keyboard.press('Escape')
    await options().first().waitFor({ state: 'detached' })
    await tab.page.keyboard.type('args')
    const offered = options().filter({ hasText: 'args-prompt' })
    await offered.waitFor()
    expect(await offered.locator('.id').innerText()).toMatch(/^everything\s+args-prompt$/)
    await tab.page.keyboard.press('Enter')
    await tab.page.getByRole('dialog', { name: 'Arguments Prompt' }).waitFor()
    expect(await accessFaults(tab.page)).toEqual([])
    await tab.page.getByLabel('city').fill('Rome')
    await tab.page.keyboard.press('Enter')
    await expect.poll(() => message().inputValue()).toBe("What's weather in Rome?")
    await expect.poll(() => tab.page.evaluate('document.activeElement.tagName')).toBe('TEXTAREA')
    await tab.page.keyboard.press('Control+A')
    await tab.page.keyboard.type(' and be short')
    await tab.page.keyboard.press('Home')
    await tab.page.keyboard.type('/simple')
    await options().filter({ hasText: 'simple-prompt' }).waitFor()
    await tab.page.keyboard.press('Tab')
    await expect.poll(() => message().inputValue()).toMatch(/simple prompt.* and be short$/)
  })

  test('a resource is attached as a file; a text that matches nothing is sent as it is', async () => {
    await message().focus()
    await tab.page.keyboard.type('look at @architecture')
    await options().first().waitFor()
    await tab.page.keyboard.press('Enter')
    const file = tab.page.locator('.composer .files li')
    await file.filter({ hasText: 'architecture.md' }).waitFor()
    await file.filter({ hasText: 'Storing' }).waitFor({ state: 'detached' })
    expect(await message().inputValue()).toBe('look at ')
    await message().fill(script({ text: 'seen' }))
    await tab.page.keyboard.press('Enter')
    await tab.done()
    expect(await storedAttachments()).toEqual(['architecture.md text/markdown'])
    await message().focus()
    await tab.page.keyboard.type('/nothing')
    await tab.page.getByText('No server has such a prompt.').waitFor()
    await tab.page.keyboard.press('Enter')
    await tab.page.locator('.bubble', { hasText: '/nothing' }).waitFor()
  })

  test('while prompts are loaded, a note says so, and Enter does not send', async () => {
    const { promise: isReleased, resolve: release } = Promise.withResolvers<void>()
    await tab.page.route('**/mcp/prompts/list', async (route) => {
      await isReleased
      await route.continue()
    })
    await message().focus()
    await tab.page.keyboard.type('/simple')
    await tab.page.getByText('The prompts of the servers are being loaded.').waitFor()
    await tab.page.keyboard.press('Enter')
    expect(await message().inputValue()).toBe('/simple')
    release()
    await options().filter({ hasText: 'simple-prompt' }).waitFor()
    await tab.page.keyboard.press('Enter')
    await expect.poll(() => message().inputValue()).toMatch(/simple prompt/)
  })

  test('a picture from the clipboard and dropped files go along, and pictures have a preview', async () => {
    await tab.page.evaluate(`(async () => {
      const bytes = Uint8Array.from(atob('${ONE_PIXEL}'), (each) => each.charCodeAt(0))
      const blob = new Blob([bytes], { type: 'image/png' })
      await navigator.clipboard.write([new ClipboardItem({ 'image/png': blob })])
    })()`)
    await message().focus()
    await tab.page.keyboard.press('Control+V')
    const files = tab.page.locator('.composer .files li')
    await files.filter({ hasText: 'image.png' }).waitFor()
    await using folder = await testFolder()
    const paths = ['notes.txt', 'dropped.png'].map((name) => join(folder.path, name))
    await writeFile(paths[0] ?? '', 'a note')
    await writeFile(paths[1] ?? '', Buffer.from(ONE_PIXEL, 'base64'))
    const box = await message().boundingBox()
    const at = { x: (box?.x ?? 0) + 5, y: (box?.y ?? 0) + 5 }
    const devtools = await context.newCDPSession(tab.page)
    const data = { items: [], files: paths, dragOperationsMask: 1 }
    for (const type of ['dragEnter', 'dragOver', 'drop'] as const)
      await devtools.send('Input.dispatchDragEvent', { type, ...at, data })
    await files.filter({ hasText: 'notes.txt' }).waitFor()
    await expect.poll(() => files.filter({ hasText: 'Storing' }).count()).toBe(0)
    const widths =
      "Array.from(document.querySelectorAll('.composer .files img'), (each) => each.naturalWidth)"
    await expect.poll(() => tab.page.evaluate(widths)).toEqual([1, 1])
    expect(await files.filter({ hasText: 'dropped.png' }).locator('img').count()).toBe(1)
    expect(await files.filter({ hasText: 'notes.txt' }).locator('img').count()).toBe(0)
    await tab.say(script({ text: 'seen' }))
    await tab.done()
    expect(await storedAttachments()).toEqual([
      'image.png image/png',
      'notes.txt text/plain',
      'dropped.png image/png',
    ])
  })

  test('cells of a spreadsheet are pasted and dropped as text, without a picture of them', async () => {
    await message().focus()
    await tab.page.evaluate(`(async () => {
      const bytes = Uint8Array.from(atob('${ONE_PIXEL}'), (each) => each.charCodeAt(0))
      const parts = {
        'image/png': bytes,
        'text/plain': 'Tea\\t3',
        'text/html': '<table><tr><td>Tea</td><td>3</td></tr></table>',
      }
      const blobs = Object.entries(parts).map(([type, part]) => [type, new Blob([part], { type })])
      await navigator.clipboard.write([new ClipboardItem(Object.fromEntries(blobs))])
    })()`)
    await tab.page.keyboard.press('Control+V')
    await expect.poll(() => message().inputValue()).toBe('Tea\t3')
    await tab.page.evaluate(`(() => {
      const data = new DataTransfer()
      data.setData('text/plain', 'Milk\\t2')
      data.items.add(new File(['x'], 'image.png', { type: 'image/png' }))
      const drop = { dataTransfer: data, bubbles: true, cancelable: true }
      document.body.dispatchEvent(new DragEvent('drop', drop))
    })()`)
    await expect.poll(() => message().inputValue()).toBe('Tea\t3\n\nMilk\t2')
    expect(await tab.page.locator('.composer .files li').count()).toBe(0)
  })

  test('a picture without words is sent, and no empty bubble is shown', async () => {
    const buffer = Buffer.from(ONE_PIXEL, 'base64')
    const file = { name: 'dot.png', mimeType: 'image/png', buffer }
    await tab.page.locator('input[type=file]').setInputFiles(file)
    await tab.button('Send').click()
    await tab.done()
    expect(await storedAttachments()).toEqual(['dot.png image/png'])
    expect(await tab.page.locator('.bubble').isVisible()).toBe(false)
    expect(await tab.page.locator('.user .files img').count()).toBe(1)
  })

  test('an Enter that sends nothing because of a file says so, until the file is removed', async () => {
    await using folder = await testFolder()
    const big = join(folder.path, 'big.bin')
    await writeFile(big, Buffer.alloc(20 * 1024 * 1024 + 1))
    await tab.page.locator('input[type=file]').setInputFiles(big)
    await message().fill('look')
    await message().press('Enter')
    const told = tab.page.getByRole('alert').filter({ hasText: 'big.bin: larger than 20 MB' })
    await told.waitFor()
    await tab.button('Remove big.bin').click()
    await told.waitFor({ state: 'detached' })
    await message().press('Enter')
    await tab.done()
    expect(await tab.page.locator('.bubble').allInnerTexts()).toEqual(['look'])
  })

  test('a text is copied where the page comes over plain HTTP', async () => {
    await tab.page.addInitScript(
      "Object.defineProperty(navigator, 'clipboard', { value: undefined })",
    )
    await tab.page.reload()
    await tab.say(script({ text: 'to be copied' }))
    await tab.done()
    await tab.button('Copy answer').click()
    await message().focus()
    await tab.page.keyboard.press('Control+V')
    expect(await message().inputValue()).toBe('to be copied')
  })

  test('the message has the focus at load, in a new chat, and in one that is opened', async () => {
    const isFocused = (): Promise<boolean> =>
      message().evaluate((element) => element.matches(':focus'))
    await tab.page.reload()
    await expect.poll(isFocused).toBe(true)
    await tab.say(script({ text: 'first' }))
    await tab.done()
    await tab.button('New chat').click()
    await tab.page.getByRole('heading', { name: 'New chat' }).waitFor()
    await expect.poll(isFocused).toBe(true)
    // The new chat is shown already.
    await tab.button('New chat').click()
    await expect.poll(isFocused).toBe(true)
    await tab.page.locator('.session .entry').first().click()
    await tab.done()
    await expect.poll(isFocused).toBe(true)
  })

  test('the field grows with a long paragraph, up to eight lines', async () => {
    const sizes = (): Promise<number[]> =>
      message().evaluate(({ clientHeight, scrollHeight }) => [clientHeight, scrollHeight])
    const [line = 0] = await sizes()
    await message().focus()
    await tab.page.keyboard.type('many words in one paragraph '.repeat(12))
    const [height = 0, content] = await sizes()
    expect(height).toBe(content)
    expect(height).toBeGreaterThan(1.5 * line)
    await message().fill('a line\n'.repeat(40))
    const [full = 0, all = 0] = await sizes()
    expect(full).toBeLessThan(all)
    expect(full).toBeGreaterThan(height)
  })

  test('a message that is too long is not sent, and says so', async () => {
    await message().fill('x'.repeat(MAX_MESSAGE_LENGTH + 1))
    const fault = tab.page.getByText(
      'This message is too long: at most 131,072 characters are allowed.',
    )
    await fault.waitFor()
    await message().press('Enter')
    expect((await message().inputValue()).length).toBe(MAX_MESSAGE_LENGTH + 1)
    await message().press('Backspace')
    await fault.waitFor({ state: 'detached' })
    await message().press('Enter')
    await tab.done()
  })

  test('the Enter that confirms a conversion of an input method neither sends nor chooses', async () => {
    // Safari ends the composition before the event of its Enter.
    const confirm = async (field: Locator): Promise<void> => {
      await field.dispatchEvent('compositionend')
      await field.dispatchEvent('keydown', { key: 'Enter', keyCode: 229 })
    }
    await message().fill('てんき')
    await confirm(message())
    await tab.page.keyboard.press('Control+K')
    const search = tab.page.getByRole('combobox', { name: 'Go to' })
    await search.fill('s')
    await confirm(search)
    expect(await search.isVisible()).toBe(true)
    await tab.page.keyboard.press('Escape')
    // An Enter of its own sends: the text is still there.
    await message().press('Enter')
    await tab.done()
    expect(await tab.page.locator('.bubble').allInnerTexts()).toEqual(['てんき'])
  })

  test('a form sends only what was touched', async () => {
    const properties = {
      name: { type: 'string' },
      isOld: { type: 'boolean' },
      size: { type: 'string', enum: ['s', 'm'] },
      colours: { type: 'array', items: { type: 'string', enum: ['red', 'blue'] } },
    }
    const params = { message: 'Your data?', requestedSchema: { type: 'object', properties } }
    const given = { method: 'elicitation/create', params }
    await tab.say(script({ calls: [{ name: 'asker__ask', arguments: given }] }, { text: 'end' }))
    await tab.page.locator('.asks').getByLabel('name').fill('Ann')
    await tab.button('Send answer').click()
    await tab.done()
    await tab.page.locator('.tool > summary').click()
    await tab.button('Raw').click()
    expect(await tab.page.locator('.tool').innerText()).toContain('"content":{"name":"Ann"}')
  })

  test('a page that a tool wants visited is named, and opens in a tab of its own by a click only', async () => {
    const url = `${host.stack.url}/ready?from=tool`
    const params = { mode: 'url', elicitationId: 'e1', message: 'Connect your account', url }
    const given = { method: 'elicitation/create', params }
    await tab.say(script({ calls: [{ name: 'asker__ask', arguments: given }] }, { text: 'end' }))
    const address = new URL(url)
    await tab.page.getByText(`This leads to ${address.host}`).waitFor()
    expect(await tab.page.locator('.asks pre').innerText()).toBe(url)
    expect(await accessFaults(tab.page)).toEqual([])
    expect(context.pages()).toHaveLength(1)
    const [opened] = await Promise.all([
      context.waitForEvent('page'),
      tab.page.getByRole('link', { name: `Open ${address.host} in a new tab` }).click(),
    ])
    await expect.poll(() => opened.url()).toBe(url)
    expect(await opened.evaluate('window.opener')).toBe(null)
    await tab.button('I have done it').click()
    await tab.done()
    await tab.page.locator('.tool > summary').click()
    await tab.button('Raw').click()
    expect(await tab.page.locator('.tool').innerText()).toContain('{"action":"accept"}')
  })
})
