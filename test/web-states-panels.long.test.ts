// Pictures of what is around a conversation in the web UI, in all of its states: docs/guides/web-ui-states.md.
import { join } from 'node:path'
import { HostApi, SessionClient } from '@mcp-host/client'
import { appServer, testFolder } from '@mcp-host/testkit'
import type { BrowserContext, Locator, WebSocketRoute } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { ChatTab } from './web-host.ts'
import { NEEDS_BROWSER } from './web-host.ts'
import { Pictures } from './web-pictures.ts'
import type { PreparedAnswer, PreparedCall } from './web-prepared.ts'
import { FILES, PreparedHost, SERVERS } from './web-prepared.ts'

const program = '../node_modules/@modelcontextprotocol/server-basic-vanillajs/dist/index.js'
const clock = {
  command: process.execPath,
  args: [join(import.meta.dirname, program), '--stdio'],
}
const call = (name: string): PreparedCall => ({ name, arguments: {} })
const ANSWERS: readonly PreparedAnswer[] = [
  {
    to: 'Tell me a long story',
    text: 'Once upon a time, and a long time ago. '.repeat(40),
    pieceMs: 60,
  },
  { to: 'What time', call: call('clock__get-time'), text: 'The clock shows it.' },
  { to: 'Show the shop', call: call('shop__board'), text: 'This is the shop.' },
  { to: 'Show the archive', call: call('shop__missing'), text: 'This was the archive.' },
  {
    to: 'What is in welcome.txt',
    call: { name: 'filesystem__read_text_file', arguments: { path: `${FILES}/welcome.txt` } },
    text: 'It greets you, and says where files are.',
  },
]
const WINDOW = { width: 1_040, height: 640 }

describe.skipIf(NEEDS_BROWSER !== '')(`pictures of panels and states${NEEDS_BROWSER}`, () => {
  const hosts = new AsyncDisposableStack()
  let prepared: PreparedHost
  let url: string
  let api: HostApi
  let context: BrowserContext
  let tab: ChatTab
  let pictures: Pictures

  beforeAll(async () => {
    const folder = hosts.use(await testFolder())
    const shop = appServer(join(folder.path, 'reports.jsonl'), 'https://shop.example')
    prepared = hosts.use(
      await PreparedHost.start({
        answers: ANSWERS,
        servers: { ...SERVERS, clock, shop },
        env: { TOOL_APPROVAL: 'shop.remove' },
      }),
    )
    ;({ url } = prepared.host.stack)
    api = new HostApi({ url })
    context = await prepared.host.browser.newContext({ viewport: WINDOW, reducedMotion: 'reduce' })
  })
  afterAll(() => hosts.disposeAsync())

  beforeEach(async () => {
    tab = await prepared.host.open(context)
    pictures = new Pictures(tab.page)
  })
  afterEach(() => tab.page.close())

  const head = (): Locator => tab.page.locator('.bar')
  const box = (): Locator => tab.page.locator('.dock .box')
  const message = (): Locator => tab.page.getByLabel('Message', { exact: true })
  const composer = (): Locator => tab.page.locator('.composer')
  const dialog = (): Locator => tab.page.getByRole('dialog')

  async function say(text: string, turns = 1): Promise<void> {
    await tab.say(text)
    await tab.done(turns)
  }

  /** Says something in a chat of its own, and returns its id. */
  async function begin(text: string): Promise<string> {
    const { promise, resolve } = Promise.withResolvers<void>()
    using client = new SessionClient({
      url,
      onEvent: ({ type, payload }) => {
        if (type === 'turn' && payload.state === 'done') resolve()
      },
    })
    client.say(text)
    await promise
    return client.sessionId ?? ''
  }

  test('the first run, with the demo model', async () => {
    await tab.change('**/api/chat/models', (answer) => ({
      ...answer,
      default: { provider: 'demo', model: 'demo-1' },
    }))
    await tab.page.getByText('The built-in demo model answers').waitFor()
    await tab.page.getByText('Set a key of a provider, as GEMINI_API_KEY').waitFor()
    await pictures.takeBoth('state-first-run', tab.page.locator('main'))
  })

  test('no model, and one that cannot be reached', async () => {
    await tab.page.getByText('Ask for something a tool can do.').waitFor()
    await tab.change('**/api/chat/models', () => ({ providers: [] }))
    await tab.page.getByText('No model is ready.').waitFor()
    await pictures.take('state-no-model', head(), box())
  })

  test('a connection that comes, goes and restarts', async () => {
    const { page } = tab
    await page.routeWebSocket(/\/ws/, () => undefined)
    await page.reload()
    await page.getByText('Connecting to the host.').waitFor()
    await pictures.take('state-connecting', head(), box())
    let isAway = false
    let socket: WebSocketRoute | undefined
    await page.routeWebSocket(/\/ws/, (route) => {
      if (isAway) return
      socket = route
      route.connectToServer()
    })
    await page.reload()
    await say('Say hello')
    isAway = true
    await socket?.close({ code: 1_011 })
    await page.getByText('Connecting again.').waitFor()
    await pictures.take('state-reconnecting', head(), box())
    await tab.say('Say it in French, too')
    await page.getByText('Waiting for the host.').waitFor()
    await pictures.takeBoth('state-offline-queue')
  })

  test('a host that restarts', async () => {
    const { page } = tab
    let isAway = false
    // The page also connects to the chat of the test before, whose message was not sent.
    const sockets = new Map<string | null, WebSocketRoute>()
    await page.routeWebSocket(/\/ws/, (route) => {
      if (isAway) return
      sockets.set(new URL(route.url()).searchParams.get('sessionId'), route)
      route.connectToServer()
    })
    await page.reload()
    await say('Say hello')
    isAway = true
    await sockets.get(tab.sessionId)?.close({ code: 1_012 })
    await box().getByText('The host restarts.').waitFor()
    await pictures.take('state-restarting', head(), box())
  })

  test('faults of one message and of the history', async () => {
    const { page } = tab
    const id = await begin('What is in welcome.txt?')
    await page.goto(`${url}/#/chat/${id}`)
    // Blocks of a content are objects; nothing here expects another thing.
    await tab.change('**/messages?*', (answer) => {
      for (const { data } of answer['messages'] as { data?: { content: unknown[] } }[])
        if (data !== undefined) data.content = [null]
      return answer
    })
    await page.getByText('This message cannot be shown').waitFor()
    await pictures.take('state-fault', page.locator('.fault'))
    await page.unroute('**/messages?*')
    await page.route('**/messages?*', (route) =>
      route.fulfill({ status: 503, json: { error: { message: 'the host is busy' } } }),
    )
    await page.reload()
    await page.getByText('could not be loaded').waitFor()
    await pictures.take('state-history-failed', page.locator('.thread .banner'))
  })

  test('the composer', async () => {
    await tab.page.getByText('Ask for something a tool can do.').waitFor()
    await pictures.take('composer', composer())
    await message().focus()
    await tab.page.keyboard.type('/')
    await composer().getByRole('option').nth(2).waitFor()
    await pictures.takeBoth('composer-prompts', composer())
    await tab.page.keyboard.type('args')
    await composer().getByRole('option', { name: 'args-prompt' }).waitFor()
    await tab.page.keyboard.press('Enter')
    await tab.page.getByLabel('city').fill('Rome')
    await pictures.take('composer-prompt-form', dialog())
    await tab.page.keyboard.press('Escape')
    await message().fill('')
    await tab.page.keyboard.type('Sum up @')
    await composer().getByRole('option').nth(2).waitFor()
    await pictures.take('composer-resources', composer())
    await message().fill('Which of these is the newer one?')
    const clip = { x: 264, y: 0, width: 320, height: 160 }
    const buffer = await tab.page.screenshot({ clip })
    await tab.page.locator('input[type=file]').setInputFiles([
      { name: 'screen.png', mimeType: 'image/png', buffer },
      { name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('a note') },
    ])
    await expect.poll(() => tab.page.getByText('Storing').count()).toBe(0)
    await pictures.take('composer-files', composer())
    await tab.page.keyboard.press('Enter')
    await tab.done()
    await pictures.take('message-files', tab.page.locator('.turn .user'))
  })

  test('the list of chats, its menu, and the palette', async () => {
    const { page } = tab
    const side = page.locator('.side')
    await begin('Compare the two plans')
    await begin('Plan a trip to Rome')
    const id = await begin('What is in welcome.txt?')
    await api.updateSession(id, { title: 'Files of November' })
    await page.reload()
    await tab.say('Tell me a long story')
    await tab.answering('a long time ago')
    const kept = page.locator('.session', { hasText: 'Files of November' })
    await kept.locator('summary').click()
    await tab.button('Pin').click()
    await kept.getByText('pinned').waitFor({ state: 'attached' })
    await page.locator('.session', { hasText: 'Plan a trip' }).locator('summary').click()
    await pictures.takeBoth('session-list', side)
    await page.keyboard.press('Escape')
    await page.getByLabel('Search chats').fill('Paris')
    await page.getByText('No chat has this title.').waitFor()
    await pictures.take('session-search', side)
    await page.keyboard.press('Control+k')
    await dialog().getByRole('option').nth(2).waitFor()
    await page.keyboard.press('ArrowDown')
    await pictures.takeBoth('palette', dialog())
    await page.keyboard.press('Escape')
    await tab.button('Stop').click()
  })

  test('the keyboard shortcuts', async () => {
    await tab.page.getByText('Ask for something a tool can do.').waitFor()
    await tab.page.setViewportSize({ width: 1_040, height: 1_000 })
    // A single key is a letter in the message, which has the focus.
    await tab.page.locator('main').focus()
    await tab.page.keyboard.press('?')
    await dialog().getByRole('table').waitFor()
    await pictures.takeBoth('shortcuts', dialog())
  })

  test('the settings of a chat, and the context in use', async () => {
    await say('Say hello')
    await tab.page.locator('.gauge small').waitFor()
    await pictures.take('session-head', head(), composer())
    // The record of the session is written a little after its answer.
    await expect.poll(async () => (await api.session(tab.sessionId)).usage.length).toBe(1)
    await tab.button('Settings').click()
    await dialog().getByLabel('Those of all servers').uncheck()
    await dialog().getByLabel('shop').uncheck()
    await dialog().getByLabel('System prompt').fill('Answer in rhymes.')
    await dialog().getByRole('rowheader').waitFor()
    await tab.page.setViewportSize({ width: 1_040, height: 1_000 })
    await pictures.takeBoth('session-settings', dialog())
  })

  test('links to a chat, and the page of a link', async () => {
    const { page } = tab
    await say('What is in welcome.txt?')
    await page.locator('.session:has([aria-current]) summary').click()
    await tab.button('Share').click()
    await page.getByText('This chat has no links.').waitFor()
    await tab.button('Create a link').click()
    const link = await page.getByLabel('The new link').inputValue()
    await tab.button('Revoke').waitFor()
    await pictures.take('share', dialog())
    await page.goto(link)
    await page.getByText('It greets you').waitFor()
    await page.setViewportSize({ width: 820, height: 280 })
    await pictures.takeBoth('shared-page')
    await page.goto(`${url}/#/shared/unknown`)
    await page.getByText('This chat cannot be shown').waitFor()
    await pictures.take('shared-page-ended', page.locator('.box'))
  })

  test('events and replay', async () => {
    const { page } = tab
    const id = await begin('What is in welcome.txt?')
    await page.setViewportSize({ width: 960, height: 440 })
    await page.goto(`${url}/#/debug/${id}`)
    const conversation = page.getByRole('region', { name: 'Conversation at this step' })
    await conversation.getByText('It greets you').waitFor()
    await pictures.take('debug-events', page.locator('main'))
    for (let steps = 0; steps < 3; steps++) await tab.button('Back').click()
    await page.getByRole('checkbox').first().uncheck()
    await pictures.take('debug-replay', page.locator('main'))
  })

  test('apps of servers', async () => {
    const { page } = tab
    await page.setViewportSize({ width: 1_040, height: 1_100 })
    await say('What time is it?')
    const frame = page.frameLocator('.app-frame').frameLocator('iframe')
    await frame
      .locator('#server-time')
      .filter({ hasText: /^\d{4}-/ })
      .waitFor()
    await pictures.take('app', page.locator('.turn'))
    await tab.button('New chat').click()
    await say('Show the shop')
    const shop = page.frameLocator('.app-frame').frameLocator('iframe')
    const card = page.getByRole('region', { name: 'App of shop' })
    await card.getByText('asks to reach').waitFor()
    await pictures.take('app-domains', card)
    const wish = card.getByRole('group', { name: 'Wish of the app of shop' })
    await shop.getByRole('button', { name: 'Link' }).click()
    await wish.waitFor()
    await pictures.takeBoth('app-link', wish)
    await wish.getByRole('button', { name: 'Do not open it' }).click()
    await shop.getByRole('button', { name: 'Remove' }).click()
    await wish.getByRole('button', { name: 'Do not allow' }).waitFor()
    await pictures.take('app-call', wish)
    await wish.getByRole('button', { name: 'Do not allow' }).click()
    await tab.button('Close the app').click()
    await tab.button('Show the app of shop').waitFor()
    await pictures.take('app-closed', page.locator('.turn .answer'))
    await say('Show the archive', 2)
    await page.getByText('cannot be shown').waitFor()
    await pictures.take('app-failed', page.locator('.turn').last().locator('.answer'))
  })

  test('a phone', async () => {
    await tab.page.setViewportSize({ width: 390, height: 700 })
    await say('What is in welcome.txt?')
    await pictures.takeBoth('phone')
    await tab.button('Pages and lists').click()
    await tab.page.locator('.session').first().waitFor()
    await pictures.take('phone-chats')
  })

  test('a server that is missing', async () => {
    await tab.change('**/health', (answer) => ({
      ...answer,
      servers: [{ server: 'mail', state: 'unavailable' }],
    }))
    await tab.page.getByText('1 server is not available: mail.').waitFor()
    await pictures.take('state-degraded', head(), box())
  })
})
