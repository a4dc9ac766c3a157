// The events of a chat on the web UI, and its replay, in a real Chromium.
import { SessionClient } from '@mcp-host/client'
import { script } from '@mcp-host/testkit'
import type { BrowserContext } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { accessFaults } from './web-axe.ts'
import type { ChatTab } from './web-host.ts'
import { NEEDS_BROWSER, WebHost } from './web-host.ts'
import { tabTo } from './web-keyboard.ts'

describe.skipIf(NEEDS_BROWSER !== '')(`the events of a chat${NEEDS_BROWSER}`, () => {
  let host: WebHost
  let context: BrowserContext
  let tab: ChatTab

  beforeAll(async () => {
    host = await WebHost.start({ tools: [{ name: 'look', inputSchema: { type: 'object' } }] })
  })
  afterAll(() => host[Symbol.asyncDispose]())
  beforeEach(async () => {
    ;({ context, tab } = await host.visit())
    const call = { name: 'test__look', arguments: { path: '/a' } }
    await tab.say(script({ calls: [call] }, { text: 'it is there' }))
    await tab.done()
  })
  afterEach(() => host.leave(context))

  test('a chat is replayed step by step with the keyboard', async () => {
    const { page } = tab
    await page.keyboard.press('Control+k')
    await page.keyboard.type('Events of')
    await page.keyboard.press('Enter')
    const step = page.getByRole('slider', { name: 'Step' })
    const event = page.getByRole('region', { name: 'Event', exact: true })
    const conversation = page.getByRole('region', { name: 'Conversation at this step' })
    await conversation.getByText('done: completed').waitFor()
    const count = Number(await step.getAttribute('max'))
    expect(count).toBeGreaterThan(5)
    expect(await accessFaults(page)).toEqual([])
    await tabTo(page, 'Step')
    await page.keyboard.press('Home')
    await conversation.getByText('It has no message yet.').waitFor()
    await page.keyboard.press('ArrowRight')
    expect(await event.innerText()).toContain('"type": "user"')
    await conversation.getByText('it is there"}]}').waitFor()
    expect(await conversation.locator('.markdown').count()).toBe(0)
    await tabTo(page, 'Forward')
    for (let at = 2; at <= count; at++) await page.keyboard.press('Enter')
    await conversation.getByText('done: completed').waitFor()
    expect(await conversation.locator('.markdown').allInnerTexts()).toEqual(['it is there'])
    expect(await event.innerText()).toContain('"state": "done"')
    expect(await page.locator('[data-event][aria-current]').getAttribute('data-event')).toBe(
      String(count),
    )
  })

  test('events are filtered by type, and one that is chosen is shown', async () => {
    const { page } = tab
    await page
      .getByLabel(/^More for/)
      .first()
      .click()
    await page.getByRole('button', { name: 'Events', exact: true }).click()
    const rows = page.locator('[data-event]')
    await rows.filter({ hasText: 'status' }).first().waitFor()
    for (const box of await page.getByRole('checkbox').all()) await box.uncheck()
    await page.getByRole('checkbox', { name: /^tool / }).check()
    await rows.filter({ hasText: 'status' }).first().waitFor({ state: 'detached' })
    expect(await rows.locator('strong').allInnerTexts()).toEqual(['tool', 'tool'])
    await rows.first().click()
    const event = page.getByRole('region', { name: 'Event', exact: true })
    expect(await event.innerText()).toContain('"path": "/a"')
    expect(
      await page.getByRole('region', { name: 'Conversation at this step' }).innerText(),
    ).toContain('Running')
  })

  test('events are filtered and chosen by keyboard', async () => {
    const { page } = tab
    await tabTo(page, 'Events of this chat', 'Shift+Tab')
    await page.keyboard.press('Enter')
    const rows = page.locator('[data-event]')
    await rows.filter({ hasText: 'status' }).first().waitFor()
    const count = await page.getByRole('checkbox').count()
    expect(count).toBeGreaterThan(2)
    await tabTo(page, 'Follow')
    for (let at = 0; at < count; at++) {
      await page.keyboard.press('Tab')
      await page.keyboard.press('Space')
    }
    await rows.first().waitFor({ state: 'detached' })
    await tabTo(page, 'tool', 'Shift+Tab')
    await page.keyboard.press('Space')
    await rows.first().waitFor()
    expect(await rows.locator('strong').allInnerTexts()).toEqual(['tool', 'tool'])
    expect(await accessFaults(page)).toEqual([])
    // The list, and then its first row.
    await tabTo(page, /^\d+ tool /)
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    const event = page.getByRole('region', { name: 'Event', exact: true })
    await event.getByText('"path": "/a"').waitFor()
    await page.locator('[data-event][aria-current]:focus').waitFor()
    await tabTo(page, 'status', 'Shift+Tab')
    await page.keyboard.press('Space')
    await rows.filter({ hasText: 'status' }).first().waitFor()
  })

  test('of a long chat only what is visible is in the page', async () => {
    const { page } = tab
    const count = 40
    using client = new SessionClient({
      url: host.stack.url,
      sessionId: tab.sessionId,
      onEvent: () => undefined,
    })
    for (let index = 0; index < count; index++) client.say(script({ text: `answer ${index}` }))
    await page.goto(`${host.url}/#/debug/${tab.sessionId}`)
    const conversation = page.getByRole('region', { name: 'Conversation at this step' })
    await conversation.getByText(`answer ${count - 1}`, { exact: true }).waitFor()
    expect(await conversation.getByRole('article').count()).toBeLessThan(count / 2)
    expect(await page.locator('[data-event]').count()).toBeLessThan(count)
    expect(await accessFaults(page)).toEqual([])
  })

  test('events that come are followed, unless an earlier step is shown', async () => {
    const { page } = tab
    await page.goto(`${host.url}/#/debug/${tab.sessionId}`)
    const step = page.getByRole('slider', { name: 'Step' })
    const conversation = page.getByRole('region', { name: 'Conversation at this step' })
    await conversation.getByText('it is there', { exact: true }).waitFor()
    const sessionId = new URL(page.url()).hash.split('/')[2] ?? ''
    using client = new SessionClient({ url: host.stack.url, sessionId, onEvent: () => undefined })
    await client.say(script({ text: 'the second answer' })).accepted
    await conversation.getByText('the second answer', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Back' }).click()
    const before = await step.inputValue()
    const count = await step.getAttribute('max')
    await client.say(script({ text: 'the third answer' })).accepted
    await expect
      .poll(async () => Number(await step.getAttribute('max')))
      .toBeGreaterThan(Number(count))
    expect(await step.inputValue()).toBe(before)
    await page.getByRole('button', { name: 'Follow' }).click()
    await conversation.getByText('the third answer', { exact: true }).waitFor()
  })
})
