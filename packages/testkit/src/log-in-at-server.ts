import type { FormBrowser } from './form-browser.ts'

interface LoginAt {
  /** The authorization server: opens its page, and returns where the browser ends. */
  readonly issuer: { login(page: URL, user: string): Promise<URL> }
  /** The user there. */
  readonly as: string
}

/** Follows the link to a login, as far as the authorization server. */
export async function leaveFor(link: string, browser: FormBrowser): Promise<URL> {
  const asked = await browser.open(link)
  const going = await browser.submit(asked, { decision: 'connect' })
  return new URL(going.headers.get('refresh')?.replace('0; url=', '') ?? '')
}

/** Logs a user in at a server. Returns the page at the end. */
export async function logIn(link: string, browser: FormBrowser, at: LoginAt): Promise<string> {
  const back = await at.issuer.login(await leaveFor(link, browser), at.as)
  return (await browser.open(back.href)).text
}
