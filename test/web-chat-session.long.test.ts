// Settings, usage, links and places of chats in the web UI.
import { AdminApi, HostApi } from '@mcp-host/client'
import { script } from '@mcp-host/testkit'
import type { BrowserContext } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { accessFaults } from './web-axe.ts'
import type { ChatTab } from './web-host.ts'
import { NEEDS_BROWSER, WebHost } from './web-host.ts'

describe.skipIf(NEEDS_BROWSER !== '')(`sessions in the web UI${NEEDS_BROWSER}`, () => {
  let host: WebHost
  let api: HostApi
  let context: BrowserContext
  let tab: ChatTab

  beforeAll(async () => {
    const inputSchema = { type: 'object' }
    host = await WebHost.start({
      env: { TOOL_APPROVAL: 'test.remove' },
      tools: [
        { name: 'look', inputSchema, answer: 'found it' },
        { name: 'endless', inputSchema, delayMs: 100_000 },
        { name: 'remove', inputSchema },
      ],
    })
    api = new HostApi({ url: host.stack.url })
  })
  afterAll(() => host[Symbol.asyncDispose]())

  beforeEach(async () => {
    ;({ context, tab } = await host.visit({ permissions: ['clipboard-read', 'clipboard-write'] }))
  })
  afterEach(() => host.leave(context))

  async function openMenu(): Promise<void> {
    await tab.page.locator('.session:has([aria-current]) summary').click()
  }

  test('a new chat gets settings, which are shown and taken back later; usage is counted', async () => {
    await tab.button('Settings').click()
    await tab.page.getByLabel('System prompt').fill('Answer in rhymes')
    await tab.page.getByLabel('Temperature').fill('0.3')
    await tab.page.getByLabel('Tool calls of each turn').fill('4')
    await tab.page.getByLabel('Model of the chat').selectOption({ index: 1 })
    await tab.button('Save').click()
    await tab.page.getByRole('dialog').waitFor({ state: 'detached' })
    await expect.poll(() => tab.sessionId).not.toBe('')
    expect(await api.session(tab.sessionId)).toMatchObject({
      systemPrompt: 'Answer in rhymes',
      temperature: 0.3,
      maxToolCalls: 4,
      model: expect.stringMatching(/^demo\//),
    })
    await tab.say(script({ text: 'one' }))
    await tab.done()
    await tab.page.locator('.gauge small', { hasText: '% of the context' }).waitFor()
    const share = (): Promise<number> => tab.page.evaluate("document.querySelector('meter').value")
    const before = await share()
    expect(before).toBeGreaterThan(0)
    await tab.say(script({ text: 'word '.repeat(200) }))
    await tab.done(2)
    await expect.poll(share).toBeGreaterThan(before)
    expect(await share()).toBeLessThan(0.5)
    await openMenu()
    await tab.page.locator('.menu-list').getByRole('button', { name: 'Settings' }).click()
    await expect
      .poll(() => tab.page.getByLabel('System prompt').inputValue())
      .toBe('Answer in rhymes')
    await tab.page.getByRole('rowheader', { name: 'demo/' }).waitFor()
    await tab.page.getByText('Tool calls so far: 0').waitFor()
    expect(await accessFaults(tab.page)).toEqual([])
    await tab.page.getByLabel('System prompt').fill('')
    await tab.page.getByLabel('Temperature').fill('3')
    await tab.button('Save').click()
    // The browser refuses what is out of range.
    expect(await tab.page.getByRole('dialog').isVisible()).toBe(true)
    await tab.page.getByLabel('Temperature').fill('')
    await tab.button('Save').click()
    await tab.page.getByRole('dialog').waitFor({ state: 'detached' })
    const { systemPrompt, temperature, maxToolCalls } = await api.session(tab.sessionId)
    expect({ systemPrompt, temperature, maxToolCalls }).toEqual({ maxToolCalls: 4 })
  })

  test('a chat that is older than 50 others is found by its title, listed while it is pinned, and read by pages', async () => {
    const id = await api.createSession({ title: 'Trip to Lisbon' })
    for (let count = 0; count < 55; count++) await api.createSession({ title: `Chat ${count}` })
    await tab.page.reload()
    const trip = tab.page.getByRole('link', { name: 'Trip to Lisbon', exact: true })
    await tab.button('Show older chats').waitFor()
    expect(await trip.count()).toBe(0)
    const search = tab.page.getByLabel('Search chats')
    await search.fill('LISBON')
    await trip.waitFor()
    // Its address can be copied, and opened in another tab.
    expect(await trip.getAttribute('href')).toBe(`#/chat/${id}`)
    const made = trip.locator('time')
    expect(await made.innerText()).toMatch(/^(?:just now|\dm ago)$/)
    expect(await made.getAttribute('title')).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/)
    expect(await tab.page.locator('.session').count()).toBe(1)
    await search.fill('')
    await trip.waitFor({ state: 'detached' })
    await tab.page.keyboard.press('Control+k')
    await tab.page.getByRole('combobox', { name: 'Go to' }).fill('lisbon')
    await tab.page.getByRole('option', { name: 'Trip to Lisbon' }).waitFor()
    await tab.page.keyboard.press('Enter')
    await expect.poll(() => tab.sessionId).toBe(id)
    const { sessions } = await api.sessions({ title: 'lisbon', metadataKey: 'pinned' })
    expect(sessions).toEqual([])
    await api.updateSession(id, { metadata: { pinned: true } })
    expect(await api.sessions({ metadataKey: 'pinned' })).toEqual({
      sessions: [expect.objectContaining({ id })],
    })
    await tab.page.reload()
    await tab.page.locator('.session', { hasText: 'pinned' }).waitFor()
    expect(await tab.page.locator('.session').first().innerText()).toContain('Trip to Lisbon')
    await api.updateSession(id, { metadata: {} })
    await tab.page.reload()
    await tab.button('Show older chats').click()
    await trip.waitFor()
  })

  test('a page says that there is maintenance, and keeps a refused message until it is sent again', async () => {
    const admin = new AdminApi({ url: host.stack.url })
    await admin.beginMaintenance('Back at 5 pm.')
    try {
      await tab.page.reload()
      await tab.page.getByText('Maintenance: no new messages are taken. Back at 5 pm.').waitFor()
      await tab.say('hello')
      await tab.page.getByText('This host is in maintenance').waitFor()
      expect(await accessFaults(tab.page)).toEqual([])
    } finally {
      await admin.endMaintenance()
    }
    // The user reads later that the maintenance is over.
    await tab.page.reload()
    await tab.page.getByText('This host is in maintenance').waitFor()
    await tab.button('Edit').click()
    await tab.button('Send as a new version').click()
    await tab.done()
    await tab.page.reload()
    await tab.done()
    expect(await tab.page.locator('.turn').allInnerTexts()).toEqual([
      expect.stringContaining('hello'),
    ])
  })

  test('a call beyond the limit of calls says that it was not run, and its card says why', async () => {
    const id = await api.createSession({ maxToolCalls: 1 })
    await tab.page.goto(`${host.stack.url}/#/chat/${id}`)
    const call = { name: 'test__look', arguments: {} }
    await tab.say(script({ calls: [call, call] }, { text: 'end' }))
    await tab.done()
    const last = tab.page.locator('.tool').last()
    expect(await last.locator('.state').innerText()).toBe('Not run')
    await last.locator('summary').click()
    await last.getByText('this turn may make 1 tool calls').waitFor()
  })

  test('a chat uses the tools of the chosen servers alone', async () => {
    const look = script({ calls: [{ name: 'test__look', arguments: {} }] }, { text: 'end' })
    const last = tab.page.locator('.tool .state').last()
    await tab.button('Settings').click()
    await tab.page.getByLabel('Those of all servers').uncheck()
    await tab.page.getByRole('dialog').getByLabel('test').uncheck()
    await tab.button('Save').click()
    await tab.page.getByRole('dialog').waitFor({ state: 'detached' })
    await tab.say(look)
    await tab.done()
    expect(await last.innerText()).toContain('Not run')
    expect((await api.session(tab.sessionId)).servers).toEqual([])
    await tab.button('Settings').click()
    expect(await tab.page.getByRole('dialog').getByLabel('test').isChecked()).toBe(false)
    await tab.page.getByLabel('Those of all servers').check()
    await tab.button('Save').click()
    await tab.page.getByRole('dialog').waitFor({ state: 'detached' })
    await tab.say(look)
    await tab.done(2)
    expect(await last.innerText()).toContain('Done')
    expect(await api.session(tab.sessionId)).not.toHaveProperty('servers')
  })

  test('what is written in a new chat stays when it gets settings, and while another chat is shown', async () => {
    const message = tab.page.getByLabel('Message', { exact: true })
    const files = tab.page.locator('.composer .files li')
    await message.fill('a draft')
    const buffer = Buffer.from('a note')
    const file = { name: 'note.txt', mimeType: 'text/plain', buffer }
    await tab.page.locator('input[type=file]').setInputFiles(file)
    await tab.button('Settings').click()
    await tab.page.getByLabel('Tool calls of each turn').fill('4')
    await tab.button('Save').click()
    await expect.poll(() => tab.sessionId).not.toBe('')
    const { sessionId } = tab
    expect(await message.inputValue()).toBe('a draft')
    await files.filter({ hasText: 'note.txt' }).waitFor()
    await tab.button('New chat').click()
    await expect.poll(() => message.inputValue()).toBe('')
    expect(await files.count()).toBe(0)
    await tab.page.evaluate(`location.hash = '#/chat/${sessionId}'`)
    await expect.poll(() => message.inputValue()).toBe('a draft')
    await expect.poll(() => tab.page.getByText('Storing').count()).toBe(0)
    await message.fill(script({ text: 'seen' }))
    await tab.page.keyboard.press('Enter')
    await tab.done()
    const { messages } = await api.messages(sessionId)
    expect(messages[0]?.metadata.attachments).toMatchObject([{ name: 'note.txt' }])
    // The file belongs to the chat that got the settings.
    await tab.page.locator('.user .files a', { hasText: 'note.txt' }).waitFor()
  })

  test('a deleted chat offers nothing that changes it, also after a reload', async () => {
    await tab.say(script({ text: 'one' }))
    await tab.done()
    const offers = tab.page.getByRole('main').getByRole('button', {
      name: /^(?:Edit|Answer again|Settings|Share this chat)$/,
    })
    expect(await offers.count()).toBe(4)
    await api.deleteSession(tab.sessionId)
    await tab.page.getByText('This chat was deleted.').waitFor()
    await expect.poll(() => offers.count()).toBe(0)
    await tab.page.reload()
    await tab.page.getByText('The host refuses this chat: this chat was deleted').waitFor()
    expect(await offers.count()).toBe(0)
  })

  test('a chat that is deleted in the middle of a turn takes its offers back', async () => {
    const calls = ['endless', 'remove'].map((name) => ({ name: `test__${name}`, arguments: {} }))
    await tab.say(script({ calls }, { text: 'end' }))
    await tab.button('Allow').waitFor()
    await tab.say('next')
    await tab.say('after that')
    const main = tab.page.getByRole('main')
    const offers = main.getByRole('button', {
      name: /^(?:Stop|Stop this call|Allow|Do not allow|Answer it now|Take it back|Send as a new version)$/,
    })
    await expect.poll(() => offers.count()).toBe(7)
    await tab.button('Edit').first().click()
    await expect.poll(() => offers.count()).toBe(8)
    await tab.button('Settings').click()
    const panel = tab.page.getByRole('dialog')
    await panel.waitFor()
    await api.deleteSession(tab.sessionId)
    await panel.waitFor({ state: 'detached' })
    await tab.page.getByText('This chat was deleted.').waitFor()
    expect(await offers.allInnerTexts()).toEqual([])
  })

  test('a draft survives a reload, and is forgotten once it is sent or its chat is deleted', async () => {
    const message = tab.page.getByLabel('Message', { exact: true })
    const model = tab.page.getByRole('combobox', { name: 'Model', exact: true })
    const drafts = (): Promise<string[]> =>
      tab.page.evaluate("Object.keys(sessionStorage).filter((key) => key.startsWith('draft '))")
    await message.fill(script({ text: 'from the draft' }))
    await model.selectOption({ index: 1 })
    await tab.page.reload()
    await expect.poll(() => message.inputValue()).toContain('from the draft')
    await expect.poll(() => model.inputValue()).toMatch(/^demo\//)
    await message.focus()
    await tab.page.keyboard.press('Enter')
    await tab.done()
    await model.selectOption({ index: 0 })
    expect(await drafts()).toEqual([])
    await message.fill('the next message')
    await tab.page.reload()
    await expect.poll(() => message.inputValue()).toBe('the next message')
    const other = await host.open(context, `/#/chat/${tab.sessionId}`)
    await other.done()
    expect(await other.page.getByLabel('Message', { exact: true }).inputValue()).toBe('')
    await openMenu()
    await tab.button('Delete').click()
    await tab.button('Erase it for ever').click()
    await expect.poll(drafts).toEqual([])
  })

  test('a chat is shared by a link, read by it without a login, and the link is revoked', async () => {
    const calls = [{ name: 'test__look', arguments: {} }]
    await tab.say(script({ calls }, { text: 'A **secret** answer' }))
    await tab.done()
    await openMenu()
    await tab.button('Share').click()
    await tab.page.getByText('This chat has no links.').waitFor()
    await tab.page.getByLabel('Days until the link ends').fill('2')
    await tab.button('Create a link').click()
    const field = tab.page.getByLabel('The new link')
    const link = await field.inputValue()
    await tab.button('Copy link').click()
    await tab.button('Copied').waitFor()
    expect(await tab.page.evaluate('navigator.clipboard.readText()')).toBe(link)
    expect(await accessFaults(tab.page)).toEqual([])
    const [share] = await api.shares(tab.sessionId)
    expect(Math.round(((share?.expiresAt ?? 0) - Date.now()) / 3_600_000)).toBe(48)

    await using stranger = await host.browser.newContext()
    const asked: string[] = []
    stranger.on('request', (each) => asked.push(`${each.method()} ${new URL(each.url()).pathname}`))
    const reader = await host.open(stranger, new URL(link).pathname + new URL(link).hash)
    await reader.page.getByText('A secret answer').waitFor()
    await reader.page.locator('.tool', { hasText: 'look' }).locator('summary').click()
    await reader.page.getByText('found it').waitFor()
    expect(await reader.page.getByRole('textbox').count()).toBe(0)
    expect(await accessFaults(reader.page)).toEqual([])
    // A reader begins no chat.
    expect(asked).not.toContain('POST /api/chat/session')

    await tab.button('Revoke').click()
    await tab.page.getByText('This chat has no links.').waitFor()
    await reader.page.reload()
    await reader.page.getByText('This chat cannot be shown').waitFor()
    expect(await reader.page.getByText('A secret answer').count()).toBe(0)
  })

  test('a pinned chat stays at the top of the list', async () => {
    await tab.say(script({ text: 'the first' }))
    await tab.done()
    await openMenu()
    await tab.button('Rename').click()
    await tab.page.getByLabel('Title').fill('Kept')
    await tab.page.keyboard.press('Enter')
    await openMenu()
    await tab.button('Pin').click()
    await tab.button('New chat').click()
    await tab.say(script({ text: 'the second' }))
    await tab.done()
    await tab.page.locator('.session').nth(1).waitFor()
    await tab.page.reload()
    await tab.page.locator('.session').nth(1).waitFor()
    const first = tab.page.locator('.session').first()
    expect(await first.innerText()).toContain('Kept')
    await first.locator('summary').click()
    await tab.button('Unpin').click()
    await expect.poll(() => tab.page.locator('.session').first().innerText()).not.toContain('Kept')
  })
})
