import { FormBrowser } from '@mcp-host/testkit'
import type { Page } from 'playwright-core'
import type { WebStack } from './web-host.ts'

export const PASSWORD = 'correct horse battery'

/** The users of a host that asks for logins. */
export class WebUsers {
  readonly #host: WebStack
  readonly #admin: FormBrowser

  private constructor(host: WebStack, admin: FormBrowser) {
    this.#host = host
    this.#admin = admin
  }

  /** Makes `ann` the first admin, by the link in the log of the gateway. */
  static async begin(host: WebStack): Promise<WebUsers> {
    const [link = ''] = (await host.stack.log('gateway')).match(/http:\S+\/invite\/[\w-]+/) ?? []
    const admin = new FormBrowser(host.url)
    const form = await admin.open(link)
    await admin.submit(form, { name: 'ann', password: PASSWORD, again: PASSWORD })
    return new WebUsers(host, admin)
  }

  /** Adds a user with a password. */
  async add(name: string, roles: readonly string[] = ['user']): Promise<void> {
    const { invitation } = (await this.ask('/api/accounts', { name, roles })) as {
      readonly invitation: { readonly url: string }
    }
    await this.accept(invitation.url)
  }

  /** Sets the password of a user by the link that the user got. */
  async accept(link: string): Promise<void> {
    const browser = new FormBrowser(this.#host.url)
    const form = await browser.open(link)
    await browser.submit(form, { password: PASSWORD, again: PASSWORD })
  }

  /** Asks the HTTP API as the admin. */
  async ask(path: string, body?: object, method = body === undefined ? 'GET' : 'POST') {
    const response = await fetch(this.#host.url + path, {
      method,
      headers: {
        cookie: this.#admin.cookies(),
        origin: this.#host.url,
        'content-type': 'application/json',
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`)
    return (text === '' ? undefined : JSON.parse(text)) as unknown
  }
}

/** Fills in the login page with the keyboard alone. */
export async function logIn(page: Page, name: string): Promise<void> {
  await page.waitForURL(/\/login/)
  await page.locator('input[name=name]:focus').waitFor()
  await page.keyboard.type(name)
  await page.keyboard.press('Tab')
  await page.keyboard.type(PASSWORD)
  await page.keyboard.press('Enter')
  await page.waitForURL((url) => url.pathname === '/')
}
