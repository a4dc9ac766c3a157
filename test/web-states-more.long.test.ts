// Pictures of rarer states of the web UI: limits, faults, refusals and empty lists. docs/guides/web-ui-states.md shows them.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { AdminApi, HostApi, SessionClient } from '@mcp-host/client'
import { appServer, testFolder } from '@mcp-host/testkit'
import type { BrowserContext, Locator } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { ChatTab } from './web-host.ts'
import { NEEDS_BROWSER } from './web-host.ts'
import { Pictures } from './web-pictures.ts'
import type { PreparedAnswer, PreparedCall } from './web-prepared.ts'
import { FILES, PreparedHost, SERVERS } from './web-prepared.ts'

const form = {
  message: 'Who travels?',
  requestedSchema: {
    type: 'object',
    properties: { name: { type: 'string', title: 'Name of the traveller' } },
    required: ['name'],
  },
}
const ask: PreparedCall = {
  name: 'travel__ask',
  arguments: { method: 'elicitation/create', params: form },
}
const ANSWERS: readonly PreparedAnswer[] = [
  {
    to: 'Read all files',
    call: { name: 'filesystem__list_directory', arguments: { path: FILES } },
    isEndless: true,
  },
  {
    to: 'Why is the sky blue',
    text: 'Air scatters short waves of light more than long ones, and blue light has short waves.',
    pieceMs: 40,
    breaksAfter: 4,
  },
  { to: 'Book a train', call: ask, text: 'Nobody told me who travels.' },
  { to: 'Book a bus', call: ask, text: 'It is booked.' },
  {
    to: 'Note that I need milk',
    call: {
      name: 'filesystem__write_file',
      arguments: { path: `${FILES}/note.txt`, content: 'Buy milk' },
    },
    text: 'I have noted it.',
  },
  {
    to: 'Tell me a long story',
    text: 'Once upon a time, and a long time ago. '.repeat(80),
    pieceMs: 60,
  },
  { to: 'Draw a chart', call: { name: 'shop__flood', arguments: {} }, text: 'This is the chart.' },
]
const WINDOW = { width: 1_040, height: 640 }
/** More than a file may have. */
const LARGE_BYTES = 21 * 1_024 * 1_024
/** How long a server may wait for the answer of the user. */
const QUESTION_MS = 6_000
const NOTICE = 'The database moves to another disk; back at 5 pm.'

describe.skipIf(NEEDS_BROWSER !== '')(`pictures of rarer states${NEEDS_BROWSER}`, () => {
  const open = new AsyncDisposableStack()
  let prepared: PreparedHost
  let url: string
  let api: HostApi
  let context: BrowserContext
  let tab: ChatTab
  let pictures: Pictures

  beforeAll(async () => {
    const folder = open.use(await testFolder())
    const shop = appServer(join(folder.path, 'reports.jsonl'), 'https://shop.example')
    prepared = open.use(
      await PreparedHost.start({
        answers: ANSWERS,
        servers: { ...SERVERS, shop },
        env: {
          TOOL_APPROVAL: 'filesystem.write_file',
          INPUT_TIMEOUT_MS: String(QUESTION_MS),
        },
      }),
    )
    ;({ url } = prepared.host.stack)
    api = new HostApi({ url })
    context = await prepared.host.browser.newContext({ viewport: WINDOW, reducedMotion: 'reduce' })
  })
  afterAll(() => open.disposeAsync())

  beforeEach(() => show('#/'))
  afterEach(async () => {
    await tab.page.close()
    expect(prepared.host.faults).toEqual([])
  })

  /** Shows a page in a tab of its own. */
  async function show(place: string): Promise<void> {
    tab = await prepared.host.open(context, `/${place}`)
    pictures = new Pictures(tab.page)
  }

  const box = (): Locator => tab.page.locator('.dock .box')
  const composer = (): Locator => tab.page.locator('.composer')
  const message = (): Locator => tab.page.getByLabel('Message', { exact: true })
  const turn = (): Locator => tab.page.locator('.turn').last()
  const answer = (): Locator => turn().locator('.answer')
  const row = (title: string): Locator => tab.page.locator('.session', { hasText: title })

  const setServers = (servers: object): Promise<void> =>
    writeFile(prepared.host.stack.mcpJson, JSON.stringify({ servers }))

  /** Says something in a chat of its own, and stays connected to it. */
  function begin(text: string): SessionClient {
    const client = new SessionClient({ url, onEvent: () => undefined })
    client.say(text)
    return client
  }

  test('a provider that cannot be reached', async () => {
    await tab.change('**/api/chat/models', (models) => {
      const providers = models['providers'] as { provider: string }[]
      const error = 'work cannot be reached'
      return {
        ...models,
        providers: providers.map((each) => (each.provider === 'work' ? { ...each, error } : each)),
      }
    })
    await tab.page.getByText('Answers may fail').waitFor()
    await pictures.take('state-provider-unreachable', box(), composer())
  })

  test('maintenance, and a message that is refused', async () => {
    const admin = new AdminApi({ url })
    await admin.beginMaintenance(NOTICE)
    try {
      await tab.page.reload()
      await tab.page.getByText(NOTICE).waitFor()
      await pictures.take('state-maintenance', box(), composer())
      await tab.say('Plan a trip to Rome')
      await turn().getByText('This message was not sent.').waitFor()
      await pictures.take('message-refused', turn())
    } finally {
      await admin.endMaintenance()
    }
  })

  test('chats that end in another tab, and chats that the host refuses', async () => {
    await tab.say('Plan a trip to Rome')
    await tab.done()
    await api.deleteSession(tab.sessionId)
    await tab.page.getByText('This chat was deleted.').waitFor()
    await pictures.take('state-deleted', box(), composer())
    await tab.page.reload()
    await tab.page.getByText('The host refuses this chat').waitFor()
    await pictures.take('state-refused', box(), composer())
  })

  test('an answer that reaches a limit', async () => {
    const id = await api.createSession({ maxToolCalls: 2 })
    await tab.page.goto(`${url}/#/chat/${id}`)
    await tab.say('Read all files')
    await tab.done()
    await pictures.take('answer-limit', turn())
  })

  test('an answer that is written again', async () => {
    await tab.say('Why is the sky blue?')
    await tab.done()
    await turn().getByText('trying again').waitFor()
    await pictures.take('note-retried', answer())
  })

  test('questions that end without this tab', async () => {
    await tab.page.setViewportSize({ width: 1_040, height: 900 })
    await tab.say('Book a train')
    await tab.page.getByLabel('Name of the traveller').fill('Ann')
    await turn().getByText('Nobody answered in time').waitFor()
    await tab.done()
    await pictures.take('question-expired', answer())
    await tab.say('Book a bus')
    await tab.page.getByLabel('Name of the traveller').waitFor()
    const other = await prepared.host.open(context, `/#/chat/${tab.sessionId}`)
    await other.page.getByLabel('Name of the traveller').fill('Bob')
    await other.button('Send answer').click()
    await turn().getByText('You answered').waitFor()
    await tab.done(2)
    await other.page.close()
    await pictures.take('question-elsewhere', answer())
  })

  test('files that are being stored, and that are too large', async () => {
    await tab.page.route('**/file?name=*', () => undefined)
    await message().fill('Sum up the notes')
    await tab.page.locator('input[type=file]').setInputFiles([
      { name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('a note') },
      { name: 'talk.mp4', mimeType: 'video/mp4', buffer: Buffer.alloc(LARGE_BYTES) },
    ])
    await tab.page.getByText('larger than 20 MB').waitFor()
    await tab.page.getByText('Storing').waitFor()
    await pictures.take('composer-files-faults', composer())
  })

  test('prompts that are being loaded, and prompts that are not found', async () => {
    const { promise: isReleased, resolve: release } = Promise.withResolvers<void>()
    await tab.page.route('**/mcp/prompts/list', async (route) => {
      await isReleased
      await route.continue()
    })
    await message().focus()
    await tab.page.keyboard.type('/weather')
    await tab.page.getByText('are being loaded').waitFor()
    const list = tab.page.locator('.completion')
    await pictures.take('composer-prompts-loading', list, composer())
    release()
    await tab.page.getByText('No server has such a prompt.').waitFor()
    await pictures.take('composer-prompts-none', list, composer())
  })

  test('a chat that is renamed, and one that is deleted', async () => {
    await tab.say('Compare the two plans')
    await tab.done()
    const chat = row('Compare the two plans')
    await chat.locator('summary').click()
    await tab.button('Delete').click()
    await tab.button('Erase it for ever').waitFor()
    await pictures.take('session-delete', chat, chat.locator('.menu-list'))
    await tab.button('Rename').click()
    await tab.page.getByLabel('Title').fill('Plans of November')
    const field = tab.page.locator('.session', { has: tab.page.getByLabel('Title') })
    await pictures.take('session-rename', field)
    await tab.page.keyboard.press('Enter')
    await row('Plans of November').getByText('Plans of November').waitFor()
  })

  test('chats that wait for the user, and chats that answer elsewhere', async () => {
    using story = begin('Tell me a long story')
    using note = begin('Note that I need milk')
    await tab.page.reload()
    const waiting = row('waits for you')
    await waiting.waitFor()
    await row('answering').waitFor()
    const title = tab.page.getByRole('heading', { name: 'Waits for you' })
    await pictures.take('session-list-activity', title, waiting, row('answering'))
    for (const { sessionId } of [story, note]) await api.deleteSession(sessionId ?? '')
  })

  test('a list of chats that cannot be read', async () => {
    await tab.page.route('**/api/chat/sessions?*', (route) =>
      route.fulfill({
        status: 503,
        json: { error: { code: 'unavailable', message: 'the host is busy' } },
      }),
    )
    await tab.page.reload()
    const fault = tab.page.getByText('The list may be out of date: the host is busy')
    await fault.waitFor()
    await pictures.take('session-list-fault', fault)
  })

  test('the palette without a match', async () => {
    await tab.page.getByText('Ask for something a tool can do.').waitFor()
    await tab.page.keyboard.press('Control+k')
    await tab.page.getByRole('combobox', { name: 'Go to' }).fill('Paris')
    await tab.page.getByText('Nothing has this name.').waitFor()
    await pictures.take('palette-none', tab.page.getByRole('dialog'))
  })

  test('events of an empty chat', async () => {
    const id = await api.createSession({ title: 'Nothing yet' })
    await tab.page.setViewportSize({ width: 960, height: 260 })
    await tab.page.goto(`${url}/#/debug/${id}`)
    await tab.page.getByText('Nothing has happened in this chat yet').waitFor()
    await pictures.take('debug-none', tab.page.locator('main'))
  })

  test('an app that was stopped', async () => {
    await tab.say('Draw a chart')
    await tab.page.getByText('was stopped: it sent too many messages').waitFor()
    await tab.done()
    await pictures.take('app-stopped', turn())
  })

  test('a tool whose trial failed', async () => {
    await tab.page.goto(`${url}/#/servers/filesystem/read_text_file`)
    await tab.page.getByLabel('path').fill(`${FILES}/missing.txt`)
    await tab.button('Try it').click()
    const result = tab.page.getByRole('region', { name: 'Result of the trial' })
    await result.getByText('Failed').waitFor()
    await tab.page.setViewportSize({ width: 1_040, height: 1_000 })
    await pictures.take('servers-tool-failed', tab.page.locator('form.fields'), result)
  })

  test('a server that starts, and no server', async () => {
    const slow = { command: process.execPath, args: ['-e', 'setInterval(() => undefined, 1000)'] }
    await setServers({ ...SERVERS, mail: slow })
    await tab.page.setViewportSize({ width: 720, height: 260 })
    await tab.page.goto(`${url}/#/servers/mail`)
    await tab.page.getByText('Tools are listed when the server is ready.').waitFor()
    await pictures.take('servers-starting')
    await setServers({})
    await tab.page.goto(`${url}/#/servers`)
    await tab.page.locator('main').getByText('No MCP servers are configured.').waitFor()
    await pictures.take('servers-none')
  })
})
