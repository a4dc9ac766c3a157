// Logins at an MCP server in a real Chromium: from the chat whose call waits for one, and from the account page.
import { randomBytes } from 'node:crypto'
import { type LoginServer, openLoginServer } from '@mcp-host/mcp-testkit'
import { script } from '@mcp-host/testkit'
import type { BrowserContext } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { accessFaults } from './web-axe.ts'
import { NEEDS_BROWSER, WebHost } from './web-host.ts'
import { logIn, WebUsers } from './web-users.ts'

describe.skipIf(NEEDS_BROWSER !== '')(`logins at servers${NEEDS_BROWSER}`, () => {
  let notes: LoginServer
  let host: WebHost
  let context: BrowserContext

  beforeAll(async () => {
    notes = await openLoginServer()
    host = await WebHost.start({
      asksForLogin: true,
      tools: [{ name: 'echo', inputSchema: { type: 'object' } }],
      servers: { notes: notes.entry },
      toolCount: 2,
      env: { TOKEN_ENC_KEY: randomBytes(32).toString('base64') },
    })
    await (await WebUsers.begin(host)).add('bob')
  }, 120_000)
  afterAll(async () => {
    await host[Symbol.asyncDispose]()
    await notes[Symbol.asyncDispose]()
  })
  beforeEach(async () => {
    context = await host.browser.newContext()
    // The user is logged in at the authorization server.
    await context.addCookies([{ name: 'user', value: 'bob', url: notes.issuer.url }])
  })
  afterEach(async () => {
    // The login leads to another host.
    host.faults = []
    await host.leave(context)
  })

  test('a chat asks for the login, and its call goes on when the user is back', async () => {
    const tab = await host.open(context)
    const { page } = tab
    await logIn(page, 'bob')
    const calls = [{ name: 'notes__connect', arguments: {} }]
    await tab.say(script({ calls }, { text: 'done' }))
    const link = page.getByRole('link', { name: 'Open the login page' })
    await link.waitFor()
    expect(await accessFaults(page)).toEqual([])
    const [other] = await Promise.all([context.waitForEvent('page'), link.click()])
    await other.getByRole('button', { name: 'Go to its login' }).waitFor()
    expect(await accessFaults(other)).toEqual([])
    await other.getByRole('button', { name: 'Go to its login' }).click()
    await other.getByText('You are connected').waitFor()
    expect(await accessFaults(other)).toEqual([])
    await tab.done()
  })

  test('the account page shows the login, and ends it', async () => {
    const { page } = await host.open(context, '/#/account')
    await logIn(page, 'bob')
    const row = page.getByRole('list', { name: 'Connections' }).getByRole('listitem')
    await row.getByText('logged in since').waitFor()
    expect(await accessFaults(page)).toEqual([])
    await row.getByRole('button', { name: 'Rename notes, default' }).click()
    await row.getByRole('textbox', { name: 'Name of this account' }).fill('work')
    expect(await accessFaults(page)).toEqual([])
    await page.keyboard.press('Enter')
    await row.getByText('work: logged in since').waitFor()
    await row.getByRole('button', { name: 'Disconnect notes, work' }).click()
    await row.getByRole('button', { name: 'End this login' }).click()
    await row.getByText('You are not logged in there.').waitFor()
    const connect = row.getByRole('link', { name: 'Connect: notes' })
    const [other] = await Promise.all([context.waitForEvent('page'), connect.click()])
    await other.getByRole('button', { name: 'Go to its login' }).click()
    await other.getByText('You are connected').waitFor()
    await row.getByText('logged in since').waitFor()
  })

  test('a token that the user got elsewhere is a login, too', async () => {
    const { page } = await host.open(context, '/#/account')
    await logIn(page, 'bob')
    const row = page.getByRole('list', { name: 'Connections' }).getByRole('listitem')
    await row.getByText('Use a token of yours').click()
    await row.getByRole('textbox', { name: 'Name of the account at notes' }).fill('robot')
    const token = row.getByLabel('Token or API key for notes')
    await token.fill('made-up')
    await page.keyboard.press('Enter')
    await page.getByText('the server refuses this token').waitFor()
    expect(await accessFaults(page)).toEqual([])
    await token.fill(notes.issuer.issued.at(-1) ?? '')
    await page.keyboard.press('Enter')
    await row.getByText('robot: logged in since').waitFor()
    await row.getByRole('button', { name: 'Disconnect notes, robot' }).click()
    await row.getByRole('button', { name: 'End this login' }).click()
    await row.getByText('robot: logged in since').waitFor({ state: 'detached' })
  })

  test('the chat names a server whose login is over', async () => {
    const { page } = await host.open(context)
    await logIn(page, 'bob')
    await notes.issuer.endLogins()
    const tab = await host.open(context)
    const calls = [{ name: 'notes__whoami', arguments: {} }]
    await tab.say(script({ calls }, { text: 'done' }))
    await tab.page.getByRole('link', { name: 'Open the login page' }).waitFor()
    const other = await host.open(context)
    const box = other.page.getByRole('status').filter({ hasText: 'Log in again' })
    await box.getByRole('link', { name: 'notes' }).waitFor()
    expect(await accessFaults(other.page)).toEqual([])
    await box.getByRole('button', { name: 'Later' }).click()
    await box.waitFor({ state: 'detached' })
  })
})
