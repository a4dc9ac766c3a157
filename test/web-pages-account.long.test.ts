// Logins, the account page and API keys of the web UI in a real Chromium, against a host with accounts.
import { eventually, script } from '@mcp-host/testkit'
import type { BrowserContext } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { accessFaults } from './web-axe.ts'
import { NEEDS_BROWSER, WebHost } from './web-host.ts'
import { tabTo } from './web-keyboard.ts'
import { logIn, WebUsers } from './web-users.ts'

describe.skipIf(NEEDS_BROWSER !== '')(`the account page${NEEDS_BROWSER}`, () => {
  let host: WebHost
  let users: WebUsers
  let context: BrowserContext

  beforeAll(async () => {
    host = await WebHost.start({ asksForLogin: true })
    users = await WebUsers.begin(host)
    await users.add('bob')
  })
  afterAll(() => host[Symbol.asyncDispose]())
  beforeEach(async () => {
    host.faults = []
    context = await host.browser.newContext()
  })
  afterEach(() => host.leave(context))

  async function statusFor(key: string): Promise<number> {
    const headers = { authorization: `Bearer ${key}` }
    return (await fetch(`${host.url}/api/me`, { headers })).status
  }

  test('a visitor is led to the login page, and by keyboard back to the same chat', async () => {
    const first = await host.open(context)
    await logIn(first.page, 'bob')
    await first.say(script({ text: 'the old answer' }))
    await first.done()
    const id = first.sessionId
    await context.clearCookies()
    const later = await host.open(context, `/#/chat/${id}`)
    await logIn(later.page, 'bob')
    await later.page.getByText('the old answer', { exact: true }).waitFor()
    expect(new URL(later.page.url()).hash).toBe(`#/chat/${id}`)
  })

  test('a login that does not last leads to the login page once', async () => {
    const { page } = await host.open(context)
    await logIn(page, 'bob')
    await page.getByText('Ask for something a tool can do.').waitFor()
    await context.clearCookies()
    await page.reload()
    await page.getByRole('link', { name: 'Log in' }).waitFor()
    expect(await accessFaults(page)).toEqual([])
  })

  test('a draft stays for its user, and is not shown to the next user of the tab', async () => {
    const { page } = await host.open(context)
    const message = page.getByLabel('Message', { exact: true })
    await logIn(page, 'bob')
    await message.fill('a secret of bob')
    await context.clearCookies()
    await page.goto(`${host.url}/login?return=%2F`)
    await logIn(page, 'bob')
    await expect.poll(() => message.inputValue()).toBe('a secret of bob')
    await context.clearCookies()
    await page.goto(`${host.url}/login?return=%2F`)
    await logIn(page, 'ann')
    await expect.poll(() => message.inputValue()).toBe('')
    expect(await page.evaluate('JSON.stringify(sessionStorage)')).not.toContain('secret')
  })

  test('what is written in a chat that the host does not know stays, and is answered', async () => {
    const tab = await host.open(context)
    const { page } = tab
    await logIn(page, 'bob')
    const input = page.getByLabel('Message', { exact: true })
    await input.waitFor()
    const { promise: isBack, resolve: comeBack } = Promise.withResolvers<void>()
    await page.routeWebSocket(/\/ws/, async (socket) => {
      await isBack
      socket.connectToServer()
    })
    await page.evaluate("sessionStorage.setItem('new-chat', 'made-up-by-the-page')")
    const text = script({ text: 'the answer' })
    await page.evaluate(
      `sessionStorage.setItem('draft made-up-by-the-page', ${JSON.stringify(JSON.stringify({ text }))})`,
    )
    await page.reload()
    await expect.poll(() => input.inputValue()).toBe(text)
    await input.press('Home')
    const place = '[document.activeElement.value, document.activeElement.selectionStart]'
    expect(await page.evaluate(place)).toEqual([text, 0])
    comeBack()
    await page.locator('[data-connection=connected]').waitFor({ state: 'attached' })
    expect(await page.evaluate("sessionStorage.getItem('new-chat')")).not.toContain('made-up')
    expect(await page.evaluate(place)).toEqual([text, 0])
    await input.press('Enter')
    await tab.done()
    expect(await tab.answers()).toBe('the answer')
  })

  test('the page says who the user is and what was used, and logs out', async () => {
    const tab = await host.open(context)
    const { page } = tab
    await logIn(page, 'bob')
    await tab.say(script({ text: 'one two three' }))
    await tab.done()
    await page.getByRole('link', { name: 'Account' }).click()
    const who = page.getByRole('region', { name: 'Who you are' })
    expect(await who.innerText()).toMatch(/user:bob[\s\S]*Roles\s+user/)
    await page.getByText('Keys are made by admins').waitFor()
    const usage = page.getByRole('region', { name: 'Usage' })
    await eventually(async () => {
      await page.reload()
      await usage.locator('p').waitFor()
      return (await usage.locator('tbody tr').count()) > 0
    })
    expect(await usage.innerText()).toMatch(/demo\S*\s+\d/)
    await page.getByRole('link', { name: 'Show and disconnect them' }).waitFor()
    expect(await accessFaults(page)).toEqual([])
    await page.getByRole('button', { name: 'Log out' }).click()
    await page.getByText('You are logged out').waitFor()
    expect((await context.request.get(`${host.url}/api/me`)).status()).toBe(401)
  })

  test('a key is created, copied and revoked by keyboard', async () => {
    await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: host.url })
    const { page } = await host.open(context, '/#/account')
    await logIn(page, 'ann')
    await page.getByText('There is no key yet').waitFor()
    await tabTo(page, 'Name of the key')
    await page.keyboard.type('build server')
    for (const scope of ['conversations', 'approvals and share links']) {
      await tabTo(page, scope)
      await page.keyboard.press('Space')
    }
    await tabTo(page, 'Create key')
    await page.keyboard.press('Enter')
    await page.getByText('It is shown this once').waitFor()
    expect(await accessFaults(page)).toEqual([])
    await tabTo(page, 'Copy', 'Shift+Tab')
    await page.keyboard.press('Enter')
    await page.getByText('Copied').waitFor()
    const key = await page.evaluate<string>('navigator.clipboard.readText()')
    expect(await statusFor(key)).toBe(200)
    expect(await users.ask('/api/keys')).toMatchObject({
      keys: [{ name: 'build server', principal: 'key:build-server', scopes: ['mcp'] }],
    })
    const revocations: string[] = []
    page.on('request', (request) => {
      if (request.method() === 'DELETE') revocations.push(request.url())
    })
    await tabTo(page, 'Revoke build server')
    await page.keyboard.press('Enter')
    await page.getByText('Revoke it for ever').waitFor()
    expect(revocations).toEqual([])
    await page.keyboard.press('Enter')
    await page.getByText('There is no key yet').waitFor()
    await eventually(async () => (await statusFor(key)) === 401)
    expect(await page.getByText(key).count()).toBe(0)
  })

  test('a faulty key is refused with its reason, and the form stays as it is', async () => {
    const { page } = await host.open(context, '/#/account')
    await logIn(page, 'ann')
    await page.getByLabel('Name of the key').fill('x')
    await page.getByText('Principal, roles and expiry').click()
    await page.getByLabel('Acts as').fill('two words')
    await page.getByRole('button', { name: 'Create key' }).click()
    await page.getByRole('alert').filter({ hasText: 'principal' }).waitFor()
    expect(await page.getByLabel('Name of the key').inputValue()).toBe('x')
  })

  test('when the login ends, the text stays, and a login in another tab goes on with it', async () => {
    const tab = await host.open(context)
    const { page } = tab
    await logIn(page, 'bob')
    await tab.say(script({ text: 'before' }))
    await tab.done()
    const input = page.getByLabel('Message', { exact: true })
    await input.fill(script({ text: 'after' }))
    await users.ask('/api/accounts/bob', { signOut: true }, 'PATCH')
    await page.getByText('Your login has ended').waitFor()
    expect(await accessFaults(page)).toEqual([])
    const [other] = await Promise.all([
      context.waitForEvent('page'),
      page.getByRole('link', { name: 'Log in again' }).click(),
    ])
    await logIn(other, 'bob')
    await page.getByText('Your login has ended').waitFor({ state: 'detached' })
    expect(await input.inputValue()).toBe(script({ text: 'after' }))
    await input.press('Enter')
    await tab.done(2)
    expect(await tab.answers()).toBe('before\nafter')
  })
})
