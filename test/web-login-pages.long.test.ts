// The HTML pages that the gateway serves itself, in a real Chromium: logins, invitations, consents, the front page.
import { createHash } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { eventually, testFolder } from '@mcp-host/testkit'
import type { BrowserContext, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { ForeignHost } from './foreign-host.ts'
import { startForeignHost } from './foreign-host.ts'
import { accessFaults } from './web-axe.ts'
import { NEEDS_BROWSER, WebHost } from './web-host.ts'
import { tabTo } from './web-keyboard.ts'
import { Pictures } from './web-pictures.ts'
import { logIn, WebUsers } from './web-users.ts'

const PASSWORD = 'correct horse battery'
const WIDTHS = [1_040, 390]
const HEIGHT = 800
const broken = { command: process.execPath, args: ['-e', 'throw new Error("no such disk")'] }

describe.skipIf(NEEDS_BROWSER !== '')(`the pages of the gateway${NEEDS_BROWSER}`, () => {
  const open = new AsyncDisposableStack()
  let host: WebHost
  let users: WebUsers
  /** The program that users connect. */
  let client: ForeignHost
  let context: BrowserContext
  let page: Page
  let pictures: Pictures
  let violations: string[]

  beforeAll(async () => {
    const empty = open.use(await testFolder())
    client = open.use(await startForeignHost())
    host = open.use(await WebHost.start({ asksForLogin: true, env: { WEB_FOLDER: empty.path } }))
    users = await WebUsers.begin(host)
    await users.add('bob')
  })
  afterAll(() => open.disposeAsync())
  beforeEach(async () => {
    violations = []
    await visit()
  })
  afterEach(async () => {
    await context.close()
    expect(violations).toEqual([])
  })

  async function visit(options: Parameters<WebHost['browser']['newContext']>[0] = {}) {
    const viewport = { width: WIDTHS[0]!, height: HEIGHT }
    context = await host.browser.newContext({ viewport, ...options })
    page = await context.newPage()
    page.setDefaultTimeout(20_000)
    pictures = new Pictures(page)
    page.on('console', (message) => {
      if (/content.security.policy/i.test(message.text())) violations.push(message.text())
    })
  }

  const show = (path: string) => page.goto(new URL(path, host.url).href)
  const title = (text: string) => page.getByRole('heading', { name: text, exact: true }).waitFor()

  /** Presses Tab up to an element, and Enter there. */
  async function press(name: string): Promise<void> {
    await tabTo(page, name)
    await page.keyboard.press('Enter')
  }

  async function typeAt(label: string, text: string): Promise<void> {
    await tabTo(page, label)
    await page.keyboard.type(text)
  }

  /** Logs bob in, and shows a page. */
  async function enter(path: string): Promise<void> {
    await show('/login?return=%2F')
    await logIn(page, 'bob')
    await show(path)
  }

  /** Expects a page that everybody can read and use, in both themes, in a window and on a phone. */
  async function expectGoodPage(): Promise<void> {
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: HEIGHT })
      expect(await accessFaults(page)).toEqual([])
      const widths = '[document.documentElement.scrollWidth, document.documentElement.clientWidth]'
      const [content = 0, window = 0] = await page.evaluate<number[]>(widths)
      expect(content).toBeLessThanOrEqual(window)
    }
    await page.setViewportSize({ width: WIDTHS[0]!, height: HEIGHT })
    await page.emulateMedia({ colorScheme: 'light' })
  }

  /** Registers a client with a name; the path at which it asks for an authorization. */
  async function askedBy(name: string): Promise<string> {
    const redirect = `${client.url}/callback`
    const about = {
      client_name: name,
      redirect_uris: [redirect],
      token_endpoint_auth_method: 'none',
    }
    const { client_id } = (await users.ask('/auth/register', about)) as {
      readonly client_id: string
    }
    const query = new URLSearchParams({
      client_id,
      redirect_uri: redirect,
      response_type: 'code',
      code_challenge: createHash('sha256').update('a verifier').digest('base64url'),
      code_challenge_method: 'S256',
      scope: 'mcp chat',
      resource: `${host.url}/mcp`,
    })
    return `/auth/authorize?${query.toString()}`
  }

  test('a user logs in and out by keyboard', async () => {
    await show('/login?return=%2Flogin')
    await title('Log in')
    await expectGoodPage()
    await page.keyboard.type('bob')
    await typeAt('Password', 'not the password')
    await page.keyboard.press('Enter')
    await page.getByRole('alert').waitFor()
    await expectGoodPage()
    await pictures.take('login-refused', page.locator('main'))
    await show('/login')
    await page.locator('input[name=name]:focus').waitFor()
    await page.keyboard.type('bob')
    await typeAt('Password', PASSWORD)
    await press('Log in')
    await title('mcp-host')
    await show('/login')
    await title('You are logged in')
    await expectGoodPage()
    await pictures.take('login-done', page.locator('main'))
    await press('Log out')
    await title('You are logged out')
    await expectGoodPage()
    await pictures.take('logged-out', page.locator('main'))
    await press('Log in again')
    await title('Log in')
  })

  test('the first admin chooses a name and a password by keyboard', async () => {
    await using own = await WebHost.start({ asksForLogin: true })
    const [link = ''] = (await own.stack.log('gateway')).match(/http:\S+\/invite\/[\w-]+/) ?? []
    await page.goto(link)
    await title('Create the first admin')
    await expectGoodPage()
    await pictures.takeBoth('invitation-admin', page.locator('main'))
    await page.keyboard.type('ann')
    await typeAt('Password', PASSWORD)
    await typeAt('The same again', PASSWORD)
    await press('Create account')
    // The login leads to the chat.
    await page.getByLabel('Message', { exact: true }).waitFor()
    expect(new URL(page.url()).pathname).toBe('/')
  })

  test('an invited user sets a password by keyboard, once', async () => {
    const { invitation } = (await users.ask('/api/accounts', { name: 'eve', roles: ['user'] })) as {
      readonly invitation: { readonly url: string }
    }
    await page.goto(invitation.url)
    await title('Set the password of eve')
    await expectGoodPage()
    await pictures.take('invitation', page.locator('main'))
    await typeAt('Password', PASSWORD)
    await typeAt('The same again', `${PASSWORD}?`)
    await page.keyboard.press('Enter')
    await page.getByRole('alert').waitFor()
    await expectGoodPage()
    await typeAt('Password', PASSWORD)
    await typeAt('The same again', PASSWORD)
    await page.keyboard.press('Enter')
    await title('mcp-host')
    await page.goto(invitation.url)
    await title('This did not work')
    await expectGoodPage()
    await pictures.take('login-error', page.locator('main'))
  })

  test('a user connects a program and disconnects it by keyboard', async () => {
    await show(await askedBy('Notes for the desk'))
    await title('Log in')
    await page.getByText('to connect').waitFor()
    await expectGoodPage()
    await page.keyboard.type('bob')
    await typeAt('Password', PASSWORD)
    await page.keyboard.press('Enter')
    await title('Allow Notes for the desk to connect?')
    await expectGoodPage()
    await pictures.takeBoth('consent', page.locator('main'))
    await press('Allow')
    await page.waitForURL(/callback\?.*code=/)
    await show('/login/clients')
    await page.getByText('Notes for the desk').waitFor()
    await expectGoodPage()
    await pictures.take('connected-programs', page.locator('main'))
    await press('Disconnect')
    await page.getByText('None.').waitFor()
    await expectGoodPage()
  })

  test('a program with a long name is refused by keyboard', async () => {
    await enter(await askedBy('A'.repeat(80)))
    await page.getByRole('button', { name: 'Do not allow' }).waitFor()
    await expectGoodPage()
    await press('Do not allow')
    await page.waitForURL(/callback\?.*error=access_denied/)
  })

  test('a user goes on with another account by keyboard', async () => {
    await enter(await askedBy('Notes'))
    await press('Use another account')
    await title('Log in')
  })

  test('an authorization that cannot continue says so', async () => {
    await show('/auth/authorize?client_id=nobody')
    await title('This login cannot continue')
    await expectGoodPage()
  })

  test('the front page shows a visitor nothing, and a user the servers', async () => {
    await writeFile(host.stack.mcpJson, JSON.stringify({ servers: { broken } }))
    await show('/')
    await page.getByText('Log in to see its state.').waitFor()
    await expectGoodPage()
    await enter('/')
    await eventually(async () => {
      await page.reload()
      return (await page.getByText('no such disk').count()) > 0
    })
    await expectGoodPage()
  })

  test('inputs are 32 px high, and on a phone 44 with text of 16', async () => {
    const sizes = () =>
      page.evaluate<unknown>(`Array.from(document.querySelectorAll('input:not([type=hidden])'),
        (input) => [input.offsetHeight, getComputedStyle(input).fontSize])`)
    await show('/login')
    expect(await sizes()).toEqual([
      [32, '13px'],
      [32, '13px'],
    ])
    await context.close()
    await visit({ viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true })
    await show('/login')
    expect(await sizes()).toEqual([
      [44, '16px'],
      [44, '16px'],
    ])
  })

  test('the focus has a ring, and nothing moves for users who reduce motion', async () => {
    await page.emulateMedia({ reducedMotion: 'reduce' })
    await show('/login')
    await tabTo(page, 'Log in')
    expect(
      await page.evaluate<unknown>(`(() => {
        const style = getComputedStyle(document.activeElement)
        return [style.outlineWidth, style.outlineOffset, style.transitionDuration]
      })()`),
    ).toEqual(['2px', '2px', '0s'])
  })
})
