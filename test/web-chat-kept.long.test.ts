// What stays where it is in a chat: what the user fills in, also out of view, and the end, which stays in view.
import { join } from 'node:path'
import { SessionClient } from '@mcp-host/client'
import { script } from '@mcp-host/testkit'
import type { Locator } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ChatTab } from './web-host.ts'
import { NEEDS_BROWSER, WebHost } from './web-host.ts'

const asker = {
  command: process.execPath,
  args: [join(import.meta.dirname, '..', 'packages/testkit/fixtures/asking-server.ts')],
  scope: 'session',
}
/** So many turns that the last ones are far from the first ones. */
const TURNS = 30
/** More than all turns, in pixels. */
const FAR = 100_000
/** More than a screen of short turns. */
const FIRST_TURNS = 10

describe.skipIf(NEEDS_BROWSER !== '')(`places in long chats${NEEDS_BROWSER}`, () => {
  const open = new AsyncDisposableStack()
  let host: WebHost
  let tab: ChatTab

  beforeAll(async () => {
    const found = JSON.stringify({ found: { it: 1 } })
    const tools = [{ name: 'look', inputSchema: { type: 'object' }, answer: found }]
    host = open.use(await WebHost.start({ tools, servers: { asker }, toolCount: 2 }))
    const { promise: isOver, resolve } = Promise.withResolvers<void>()
    let ended = 0
    using client = new SessionClient({
      url: host.stack.url,
      onEvent: ({ type, payload }) => {
        if (type === 'turn' && payload.state === 'done' && ++ended === TURNS) resolve()
      },
    })
    for (let index = 0; index < TURNS; index++) {
      client.say(script({ text: `answer ${index}\n\n${'more\n\n'.repeat(4)}` }))
    }
    await isOver
    const context = open.use(await host.browser.newContext())
    tab = await host.open(context, `/#/chat/${client.sessionId}`)
    await tab.page.getByText(`answer ${TURNS - 1}`, { exact: true }).waitFor()
  })
  afterAll(() => open.disposeAsync())

  const answer = (turn: number): Locator => tab.page.getByText(`answer ${turn}`, { exact: true })

  async function scroll(pixels: number): Promise<void> {
    await tab.page.locator('.turns').hover({ position: { x: 5, y: 5 } })
    await tab.page.mouse.wheel(0, pixels)
  }

  /** Scrolls to the first messages. `without`: a turn that is not kept, so it leaves the page. */
  async function toFirst(without: number): Promise<void> {
    await expect
      .poll(async () => {
        await scroll(-FAR)
        return answer(0).isVisible()
      })
      .toBe(true)
    await answer(without).waitFor({ state: 'detached' })
  }

  /** Scrolls to the last messages, among which a turn comes back. */
  async function toLast(turn: number): Promise<void> {
    await expect
      .poll(async () => {
        await scroll(FAR)
        return answer(turn).count()
      })
      .toBe(1)
  }

  /** Scrolls to the first messages and back to the last ones. `without`: a turn that is not kept. */
  async function lookBack(without: number): Promise<void> {
    await toFirst(without)
    await toLast(without)
  }

  test('a turn that has the focus keeps it', async () => {
    const focused = (): Promise<string | null> =>
      tab.page.evaluate("document.activeElement.closest('.turn')?.innerText ?? null")
    await answer(TURNS - 1).click()
    expect(await focused()).toContain(`answer ${TURNS - 1}`)
    await lookBack(TURNS - 2)
    expect(await focused()).toContain(`answer ${TURNS - 1}`)
    await tab.page.getByLabel('Message', { exact: true }).focus()
    await lookBack(TURNS - 1)
  })

  test('an open editor keeps its text', async () => {
    await tab.button('Edit').last().click()
    await tab.page.getByLabel('Your message').fill('another version')
    await lookBack(TURNS - 2)
    expect(await tab.page.getByLabel('Your message').inputValue()).toBe('another version')
    await tab.button('Keep as it was').click()
  })

  test('an open question keeps the values of its form', async () => {
    const requestedSchema = { type: 'object', properties: { name: { type: 'string' } } }
    const params = { message: 'Your data?', requestedSchema }
    const call = { name: 'asker__ask', arguments: { method: 'elicitation/create', params } }
    await tab.say(script({ calls: [call] }, { text: 'end' }))
    await tab.page.getByLabel('name').fill('Ann')
    await lookBack(TURNS - 1)
    expect(await tab.page.getByLabel('name').inputValue()).toBe('Ann')
    await tab.button('Send answer').click()
    await tab.page.getByText('end', { exact: true }).waitFor()
  })

  test('a call that was opened leaves the page out of view once it is closed', async () => {
    await tab.say(script({ calls: [{ name: 'test__look', arguments: {} }] }, { text: 'looked' }))
    await tab.page.getByText('looked', { exact: true }).waitFor()
    const call = tab.page.locator('.tool', { hasText: 'look' })
    await call.locator('summary').first().click()
    await call.locator('.card summary').click()
    await call.getByText('it', { exact: true }).waitFor()
    await toFirst(TURNS - 1)
    expect(await call.count()).toBe(1)
    await call.locator('summary').first().click()
    await tab.page.getByLabel('Message', { exact: true }).focus()
    await toFirst(TURNS - 1)
    await call.waitFor({ state: 'detached' })
  })

  test.each([1, 2, 3, 4])(
    'the first answers that fill a screen stay in view (chat %j)',
    async () => {
      await using context = await host.browser.newContext({
        viewport: { width: 1280, height: 800 },
      })
      const chat = await host.open(context)
      for (let turn = 0; turn < FIRST_TURNS; turn++) {
        await chat.say(script({ text: `short ${turn} of ${FIRST_TURNS}` }))
        await chat.page.getByText(`short ${turn} of ${FIRST_TURNS}`, { exact: true }).waitFor()
        const isInView = `(() => {
        const { scrollTop, scrollHeight, clientHeight } = document.querySelector('.turns')
        return scrollHeight - clientHeight - scrollTop < 2
      })()`
        await expect.poll(() => chat.page.evaluate(isInView)).toBe(true)
      }
    },
  )
})
