// What can be done with chats and their answers on the web UI, by keyboard alone.
import { readFile } from 'node:fs/promises'
import { HostApi } from '@mcp-host/client'
import { script } from '@mcp-host/testkit'
import type { BrowserContext } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { ChatTab } from './web-host.ts'
import { NEEDS_BROWSER, WebHost } from './web-host.ts'
import { tabTo } from './web-keyboard.ts'

const words = Array.from({ length: 200 }, (_, index) => `word${index}`).join(' ')
/** Lasts longer than a test. */
const longAnswer = script({ text: words, tokensPerSecond: 5 })

describe.skipIf(NEEDS_BROWSER !== '')(`actions by keyboard${NEEDS_BROWSER}`, () => {
  let host: WebHost
  let api: HostApi
  let context: BrowserContext
  let tab: ChatTab

  beforeAll(async () => {
    host = await WebHost.start({})
    api = new HostApi({ url: host.stack.url })
  })
  afterAll(() => host[Symbol.asyncDispose]())
  beforeEach(async () => {
    ;({ context, tab } = await host.visit())
    await tab.page.getByText('Ask for something a tool can do.').waitFor()
    await tabTo(tab.page, 'Message')
  })
  afterEach(() => host.leave(context))

  const press = (key: string): Promise<void> => tab.page.keyboard.press(key)
  const row = (title: string) => tab.page.locator('.session', { hasText: title })

  async function say(text: string): Promise<void> {
    await tab.page.keyboard.insertText(text)
    await press('Enter')
  }

  /** Waits until the only element with this selector and text has the focus. */
  const focused = (selector: string, hasText: string): Promise<void> =>
    tab.page.locator(`${selector}:focus`, { hasText }).waitFor()

  /** Chooses an action in the menu of a chat. */
  async function choose(title: string, action: string): Promise<void> {
    await tabTo(tab.page, `More for ${title}`, 'Shift+Tab')
    await press('Enter')
    await tab.button(action).waitFor()
    await tabTo(tab.page, action)
    await press('Enter')
  }

  /** Says something in a chat, which gets a title. */
  async function begin(title: string): Promise<void> {
    await say(script({ text: 'kept' }))
    await tab.done()
    await api.updateSession(tab.sessionId, { title })
    await tab.page.reload()
    await row(title).waitFor()
    await tabTo(tab.page, 'Message')
  }

  test('a chat is renamed, and keeps its title when Escape ends the editor', async () => {
    await begin('Trip to Rome')
    await choose('Trip to Rome', 'Rename')
    await tab.page.locator('[aria-label=Title]:focus').waitFor()
    await press('ControlOrMeta+A')
    await tab.page.keyboard.type('Trip to Naples')
    await press('Enter')
    await focused('.session .entry', 'Trip to Naples')
    const title = async () => (await api.session(tab.sessionId)).title
    await expect.poll(title).toBe('Trip to Naples')
    await tabTo(tab.page, 'Message')
    await choose('Trip to Naples', 'Rename')
    await tab.page.keyboard.type('Nothing')
    await press('Escape')
    await focused('.session .entry', 'Trip to Naples')
    expect(await title()).toBe('Trip to Naples')
  })

  test('a chat is pinned and unpinned', async () => {
    await begin('Plans')
    const pinned = async () =>
      (await api.sessions({ metadataKey: 'pinned' })).sessions.map(({ id }) => id)
    await choose('Plans', 'Pin')
    await tab.page.getByRole('heading', { name: 'Pinned' }).waitFor()
    await tab.page.locator('[aria-label="More for Plans"]:focus').waitFor()
    await expect.poll(pinned).toEqual([tab.sessionId])
    await tabTo(tab.page, 'Message')
    await choose('Plans', 'Unpin')
    await expect.poll(pinned).toEqual([])
  })

  test('a chat is exported', async () => {
    await begin('Notes of May')
    const [download] = await Promise.all([
      tab.page.waitForEvent('download'),
      choose('Notes of May', 'Export as Markdown'),
    ])
    expect(download.suggestedFilename()).toBe('Notes-of-May.md')
    expect(await readFile(await download.path(), 'utf8')).toMatch(/^# Notes of May\n/)
  })

  test('a chat is deleted by a second press alone, and the focus stays in the list', async () => {
    await begin('Old plans')
    const { sessionId } = tab
    await choose('Old plans', 'Delete')
    await tab.page.locator('.menu-list .bad:focus', { hasText: 'Erase it for ever' }).waitFor()
    // The menu forgets the first press.
    await press('Escape')
    await tabTo(tab.page, 'Message')
    expect(await api.session(sessionId)).toMatchObject({ title: 'Old plans' })
    await choose('Old plans', 'Delete')
    await tab.button('Erase it for ever').waitFor()
    await press('Enter')
    await row('Old plans').waitFor({ state: 'detached' })
    await tab.page.locator('nav[aria-label=Chats]:focus').waitFor()
    await expect(api.session(sessionId)).rejects.toThrow('no session')
  })

  test('a running answer is stopped, and the focus goes to the message', async () => {
    await say(longAnswer)
    await tab.answering('word2')
    await tabTo(tab.page, 'Stop')
    await press('Enter')
    await tab.done()
    await tab.page.getByText('You stopped this answer.').waitFor()
    await tab.page.locator('[aria-label=Message]:focus').waitFor()
    await say(script({ text: 'the next answer' }))
    await tab.done(2)
  })

  test('a running answer is stopped by Escape on the second press, and only with nothing open', async () => {
    const asks = tab.page.getByRole('status').filter({ hasText: 'Press Esc again' })
    const stopped = tab.page.getByText('You stopped this answer.')
    await begin('Long story')
    await say(longAnswer)
    await tab.answering('word2')
    // Each of them closes something, or nothing, but does not count.
    await tab.page.keyboard.type('/')
    await tab.page.locator('.completion').waitFor()
    await press('Escape')
    await tab.page.locator('.completion').waitFor({ state: 'detached' })
    await press('Backspace')
    await press('Control+k')
    await tab.page.getByRole('dialog').waitFor()
    await press('Escape')
    await tab.page.getByRole('dialog').waitFor({ state: 'detached' })
    await tabTo(tab.page, 'More for Long story', 'Shift+Tab')
    await press('Enter')
    await tab.button('Pin').waitFor()
    await press('Escape')
    await tab.button('Pin').waitFor({ state: 'hidden' })
    await press('Enter')
    await tab.button('Pin').waitFor()
    await tabTo(tab.page, 'Message')
    await press('Escape')
    await tab.button('Pin').waitFor({ state: 'hidden' })
    await press('ArrowUp')
    await tab.page.locator('[aria-label="Your message"]:focus').waitFor()
    await press('Escape')
    await tab.page.locator('.editor').waitFor({ state: 'detached' })
    expect(await asks.count()).toBe(0)
    await press('Escape')
    await asks.waitFor()
    // The second press came too late.
    await asks.waitFor({ state: 'detached' })
    await press('Escape')
    await asks.waitFor()
    expect(await stopped.count()).toBe(0)
    await press('Escape')
    await stopped.waitFor()
    await tab.done(2)
    expect(await asks.count()).toBe(0)
    await press('Escape')
    expect(await asks.count()).toBe(0)
  })

  test('a waiting message is taken back, and another one is answered at once', async () => {
    await say(longAnswer)
    await tab.answering('word2')
    await say(script({ text: 'of the second' }))
    await say(script({ text: 'of the third' }))
    await tab.page.getByText('this message is number 2 in the queue').waitFor()
    await tabTo(tab.page, 'Answer it now', 'Shift+Tab')
    await tabTo(tab.page, 'Take it back')
    await press('Enter')
    await focused('.turn', 'You took this message back.')
    await tab.page.getByText('Waiting: this message is next.').waitFor()
    await tabTo(tab.page, 'Answer it now')
    await press('Enter')
    await focused('.turn', 'of the third')
    await tab.page.locator('.markdown', { hasText: 'of the third' }).waitFor()
    await tab.page.locator('.turn').first().getByText('You stopped this answer.').waitFor()
    expect(await tab.answers()).not.toContain('of the second')
  })
})
