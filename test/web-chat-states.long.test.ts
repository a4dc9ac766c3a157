// What the web UI says about chats that run elsewhere, waiting messages, faults and missing parts of the host.
import { SessionClient } from '@mcp-host/client'
import { script } from '@mcp-host/testkit'
import type { BrowserContext } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { accessFaults } from './web-axe.ts'
import type { ChatTab } from './web-host.ts'
import { NEEDS_BROWSER, WebHost } from './web-host.ts'

const object = { type: 'object', properties: { path: { type: 'string' } } }
const words = Array.from({ length: 100 }, (_, index) => `word${index}`).join(' ')

describe.skipIf(NEEDS_BROWSER !== '')(`states in the web UI${NEEDS_BROWSER}`, () => {
  let host: WebHost
  let context: BrowserContext
  let tab: ChatTab

  beforeAll(async () => {
    const exits = { command: process.execPath, args: ['-e', 'process.exit(1)'] }
    host = await WebHost.start({
      env: { TOOL_APPROVAL: 'test.remove' },
      tools: [
        { name: 'look', inputSchema: object, answer: 'found it' },
        { name: 'remove', inputSchema: object },
        { name: 'fall', inputSchema: object, isError: true, answer: 'no such file' },
      ],
      servers: { broken: exits },
      toolCount: 3,
    })
  })
  afterAll(() => host[Symbol.asyncDispose]())

  beforeEach(async () => {
    ;({ context, tab } = await host.visit())
  })
  afterEach(() => host.leave(context))

  /** Keys of what the browser keeps of messages. */
  const storedKeys = (): Promise<unknown> =>
    tab.page.evaluate("Object.keys(localStorage).filter((key) => key.startsWith('outbox'))")

  test('a chat that was left is marked until its answer ends', async () => {
    await tab.say(script({ text: words, tokensPerSecond: 10 }))
    await tab.answering('word2')
    await tab.button('New chat').click()
    const mark = tab.page.locator('.session', { hasText: 'answering' })
    await mark.waitFor()
    await mark.waitFor({ state: 'detached', timeout: 30_000 })
    await tab.page.locator('.session').first().waitFor()
  })

  test('chats that answer, or wait for the user, are marked in other tabs and after a reload', async () => {
    const row = (text: string) => tab.page.locator('.session', { hasText: text })
    const other = await host.open(context)
    using answering = new SessionClient({ url: host.stack.url, onEvent: () => undefined })
    // It ends when it is stopped.
    const { id } = answering.say(script({ text: words, tokensPerSecond: 1 }))
    using asking = new SessionClient({ url: host.stack.url, onEvent: () => undefined })
    asking.say(script({ calls: [{ name: 'test__remove', arguments: {} }] }, { text: 'end' }))
    for (const page of [tab.page, other.page]) {
      await page.reload()
      const waiting = page.locator('.session', { hasText: 'waits for you' })
      await waiting.waitFor({ timeout: 15_000 })
      await page.locator('.session', { hasText: 'answering' }).waitFor()
    }
    await row('waits for you').getByRole('link').click()
    await tab.button('Allow').click()
    await tab.done()
    await row('waits for you').waitFor({ state: 'detached' })
    answering.cancel(id)
    await row('answering').waitFor({ state: 'detached' })
  })

  test('the browser keeps nothing of messages that are accepted, and of chats that are deleted', async () => {
    await tab.say(script({ text: 'one to delete' }))
    await tab.done()
    expect(await storedKeys()).toEqual([])
    const { sessionId } = tab
    const unsent = { type: 'message', payload: { id: 'm1', text: 'never sent' } }
    const key = `outbox ${sessionId} 1 m1`
    await tab.button('New chat').click()
    // The chat is not open in this page.
    await tab.page.reload()
    await tab.page.evaluate(`localStorage.setItem('${key}', '${JSON.stringify(unsent)}')`)
    expect(await storedKeys()).toEqual([key])
    await tab.page.locator('.session', { hasText: 'one to delete' }).locator('summary').click()
    await tab.button('Delete').click()
    await tab.button('Erase it for ever').click()
    await expect.poll(storedKeys).toEqual([])
  })

  test('a tool call says that it waits for permission', async () => {
    const call = { name: 'test__remove', arguments: { path: '/a' } }
    await tab.say(script({ calls: [call] }, { text: 'end' }))
    const state = tab.page.locator('.tool .state')
    await state.filter({ hasText: 'Waiting for permission' }).waitFor()
    await tab.button('Allow').click()
    await state.filter({ hasText: 'Done' }).waitFor()
  })

  test('a waiting message is taken back, in all tabs, and the next one ends the running answer', async () => {
    await tab.say(script({ text: words, tokensPerSecond: 3 }))
    await tab.answering('word2')
    const other = await host.open(context, `/#/chat/${tab.sessionId}`)
    await other.answering('word2')
    await tab.say(script({ text: 'second' }))
    await tab.say(script({ text: 'third' }))
    await tab.page.getByText('this message is number 2 in the queue').waitFor()
    expect(await accessFaults(tab.page)).toEqual([])
    const second = tab.page.locator('.turn').nth(1)
    await second.getByRole('button', { name: 'Take it back' }).click()
    await second.getByText('You took this message back.').waitFor()
    await other.page.locator('.turn').nth(1).getByText('You took this message back.').waitFor()
    await tab.page.locator('.turn').nth(2).getByText('this message is next').waitFor()
    await tab.button('Answer it now').click()
    await tab.page.getByText('third', { exact: true }).waitFor()
    expect(await tab.page.locator('.turn').nth(1).innerText()).not.toContain('Answer failed')
    const [begun, ...rest] = (await tab.answers()).split('\n')
    expect([begun?.startsWith('word0 word1'), ...rest]).toEqual([true, 'third'])
  })

  test('a chat and its menu pass the checks of axe on a phone', async () => {
    await tab.page.setViewportSize({ width: 360, height: 640 })
    const calls = [{ name: 'test__look', arguments: { path: '/etc' } }]
    await tab.say(script({ calls }, { text: '| a | b |\n|---|---|\n| 1 | 2 |' }))
    await tab.done()
    await tab.page.locator('.tool > summary').click()
    await tab.page.getByText('found it').waitFor()
    expect(await accessFaults(tab.page)).toEqual([])
    await tab.button('Pages and lists').click()
    await tab.page.locator('.session summary').first().click()
    await tab.button('Rename').waitFor()
    expect(await accessFaults(tab.page)).toEqual([])
  })

  test('a fault in one message leaves the rest of the page', async () => {
    const call = { name: 'test__look', arguments: { path: '/a' } }
    await tab.say(script({ text: 'before' }))
    await tab.done()
    await tab.say(script({ calls: [call] }, { text: 'end' }))
    await tab.done(2)
    // Blocks of a content are objects; nothing here expects another thing.
    let isBroken = true
    await tab.page.route('**/messages?*', async (route) => {
      const response = await route.fetch()
      const page = (await response.json()) as { messages: { data?: { content: unknown[] } }[] }
      for (const { data } of page.messages)
        if (data !== undefined && isBroken) data.content = [null]
      await route.fulfill({ response, json: page })
    })
    await tab.page.reload()
    await tab.page.getByText('This message cannot be shown').waitFor()
    await tab.page.getByText('before', { exact: true }).waitFor()
    await tab.say(script({ text: 'after' }))
    await tab.page.getByText('after', { exact: true }).waitFor()
    isBroken = false
    await tab.button('Reload the page').click()
    await tab.page.getByText('end', { exact: true }).waitFor()
    expect(await tab.page.getByText('cannot be shown').count()).toBe(0)
    // A request that is still open must not outlive the page.
    await tab.page.unrouteAll({ behavior: 'wait' })
  })

  test('a missing server, a missing model and a host that restarts are said; then all goes on', async () => {
    const said =
      '1 server is not available: broken. The host keeps trying to start it. The others work.'
    await tab.page.getByText(said).waitFor({ timeout: 60_000 })
    // It stays during and between the attempts to start the server.
    const link = tab.page.getByRole('status').getByRole('link', { name: 'broken', exact: true })
    await link.click()
    await tab.page.getByRole('region', { name: 'broken' }).getByText('Starting again').waitFor()
    await tab.page.goBack()
    expect(await accessFaults(tab.page)).toEqual([])
    // A host keeps the name of its model, so only one that never had a worker answers so.
    await tab.page.route('**/api/chat/models', (route) =>
      route.fulfill({ json: { providers: [] } }),
    )
    await tab.page.reload()
    await tab.page.getByText('No model is ready.').waitFor()
    expect(await accessFaults(tab.page)).toEqual([])
    await tab.page.unroute('**/api/chat/models')
    await host.stack.stop('gateway')
    await tab.page.getByRole('status').getByText('The host restarts.').waitFor()
    expect(await accessFaults(tab.page)).toEqual([])
    await host.stack.restart('gateway')
    await tab.say(script({ text: 'back' }))
    await tab.done()
  })

  test('a first run, an answer that failed and a tool call that failed pass the checks of axe', async () => {
    await tab.page.getByText('Use a real model.').waitFor()
    expect(await accessFaults(tab.page)).toEqual([])
    const error = { afterTokens: 0, message: 'out of order', code: 'invalid' }
    await tab.say(script({ text: 'never', error }))
    await tab.page.locator('.box', { hasText: 'The answer failed.' }).waitFor()
    expect(await accessFaults(tab.page)).toEqual([])
    const calls = [{ name: 'test__fall', arguments: { path: '/a' } }]
    await tab.say(script({ calls }, { text: 'end' }))
    await tab.done(2)
    await tab.page.locator('.box', { hasText: 'no such file' }).waitFor()
    expect(await accessFaults(tab.page)).toEqual([])
  })

  test('a connection that is lost, and a message that waits for it, pass the checks of axe', async () => {
    let lose = (): unknown => undefined
    await tab.page.routeWebSocket(/\/ws/, (socket) => {
      socket.connectToServer()
      lose = () => socket.close({ code: 1011 })
    })
    await tab.page.reload()
    await tab.say(script({ text: 'before' }))
    await tab.done()
    await tab.page.routeWebSocket(/\/ws/, () => undefined)
    await lose()
    await tab.page.getByText('Connecting again.').waitFor()
    expect(await accessFaults(tab.page)).toEqual([])
    await tab.say(script({ text: 'never' }))
    await tab.page.getByText('Waiting for the host.').waitFor()
    expect(await accessFaults(tab.page)).toEqual([])
  })

  test('a connection that takes long is said', async () => {
    await tab.page.routeWebSocket(/\/ws/, () => undefined)
    await tab.page.reload()
    await tab.page.getByText('Connecting to the host.').waitFor()
    expect(await accessFaults(tab.page)).toEqual([])
    await tab.say(script({ text: 'never' }))
    await tab.page.getByText('Waiting for the host.').waitFor()
  })

  test('a login that has ended leads to the login page', async () => {
    await tab.page.routeWebSocket(/\/ws/, (socket) =>
      socket.close({ code: 1008, reason: 'revoked' }),
    )
    const error = { code: 'denied', message: 'log in again' }
    await tab.page.route('**/api/me', (route) => route.fulfill({ status: 401, json: { error } }))
    await tab.page.evaluate("location.hash = '#/chat/another-session-id'")
    await tab.page.getByText('Your login has ended').waitFor()
    expect(await accessFaults(tab.page)).toEqual([])
    const link = tab.page.getByRole('link', { name: 'Log in again' })
    expect(await link.getAttribute('href')).toContain('/login?return=')
  })
})

describe.skipIf(NEEDS_BROWSER !== '')(`a host without a model that answers${NEEDS_BROWSER}`, () => {
  test('a provider that cannot be reached is named, and another model answers the same and the next message', async () => {
    // The testkit makes all providers unreachable.
    await using host = await WebHost.start({
      env: { OPENAI_API_KEY: 'no-key', LLM_RETRY_MS: '50' },
    })
    await using context = await host.browser.newContext()
    const tab = await host.open(context)
    await tab.page.getByText('Answers may fail: openai did not list its models').waitFor()
    await tab.say('hello')
    await tab.done()
    await tab.page.getByText('The answer failed.').first().waitFor()
    await tab.page.getByRole('combobox', { name: 'Model', exact: true }).selectOption({ index: 1 })
    await tab.button('Answer again').click()
    await tab.page.getByText('The answer failed.').first().waitFor({ state: 'detached' })
    await tab.done()
    await tab.button('Edit').click()
    await tab.page.getByLabel('Your message').fill(script({ text: 'after the edit' }))
    await tab.button('Send as a new version').click()
    await tab.page
      .locator('.turn[data-state=done] .markdown', { hasText: 'after the edit' })
      .waitFor()
    await tab.say(script({ text: 'the demo model' }))
    await tab.done(2)
    expect(await tab.page.locator('.turn').last().innerText()).toContain('the demo model')
    expect(host.faults).toEqual([])
  })
})
