/** A page with its forms, as a browser without scripts sees it. */
export interface Page {
  readonly url: string
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

/** Follows links, redirects and forms, and keeps cookies by their paths. It stops at addresses of other origins. */
export class FormBrowser {
  readonly #origins: readonly string[]
  readonly #cookies = new Map<string, { readonly path: string; readonly pair: string }>()
  /** Where a redirect to another origin led to, such as back to an OAuth client. */
  leftFor: string | undefined

  constructor(...origins: string[]) {
    this.#origins = origins
  }

  /** The cookies for a path, as the header of a request. */
  cookies(path = '/'): string {
    return Array.from(this.#cookies.values())
      .filter((cookie) => path.startsWith(cookie.path))
      .map(({ pair }) => pair)
      .join('; ')
  }

  /** Keeps cookies of an answer that another client got. */
  keep(cookies: readonly string[]): void {
    for (const cookie of cookies) this.#keep(cookie, '/')
  }

  async open(address: string): Promise<Page> {
    return this.#request(address, {})
  }

  /** Fills in and sends the first form that has a field or button of each given name. */
  async submit(page: Page, values: Readonly<Record<string, string>>): Promise<Page> {
    const form = formsOf(page.text).find(({ text }) =>
      Object.keys(values).every((name) => text.includes(`name="${name}"`)),
    )
    if (form === undefined) throw new Error(`there is no such form in: ${page.text}`)
    const body = new URLSearchParams({ ...form.hidden, ...values })
    return this.#request(new URL(form.action, page.url).href, {
      method: 'POST',
      headers: { origin: new URL(page.url).origin },
      body,
    })
  }

  async #request(address: string, init: RequestInit): Promise<Page> {
    let url = address
    let next = init
    for (let hops = 0; hops < 20; hops++) {
      const { pathname } = new URL(url)
      const headers = {
        accept: 'text/html',
        cookie: this.cookies(pathname),
        ...(next.headers as object),
      }
      const response = await fetch(url, { ...next, headers, redirect: 'manual' })
      for (const cookie of response.headers.getSetCookie()) this.#keep(cookie, pathname)
      const location = response.headers.get('location')
      if (location === null) {
        const text = await response.text()
        return { url, status: response.status, headers: response.headers, text }
      }
      await response.body?.cancel()
      url = new URL(location, url).href
      next = {}
      if (!this.#origins.includes(new URL(url).origin)) {
        this.leftFor = url
        return { url, status: response.status, headers: response.headers, text: '' }
      }
    }
    throw new Error(`too many redirects, last to ${url}`)
  }

  #keep(header: string, from: string): void {
    const [pair = '', ...attributes] = header.split(/; */)
    const [name = '', value = ''] = pair.split('=', 2)
    const attribute = (wanted: string) =>
      attributes
        .map((each) => each.split('=', 2))
        .find(([key]) => key?.toLowerCase() === wanted)?.[1]
    const expires = attribute('expires')
    const isOver =
      attribute('max-age') === '0' || (expires !== undefined && Date.parse(expires) < Date.now())
    const path = attribute('path') ?? from
    if (isOver || value === '') this.#cookies.delete(`${name} ${path}`)
    else this.#cookies.set(`${name} ${path}`, { path, pair })
  }
}

function formsOf(text: string) {
  return Array.from(
    text.matchAll(/<form\b([^>]*)>([\s\S]*?)<\/form>/g),
    ([, tag = '', inner = '']) => ({
      action: attributeOf(tag, 'action'),
      text: inner,
      hidden: Object.fromEntries(
        Array.from(inner.matchAll(/<input\b[^>]*type="hidden"[^>]*>/g), ([input]) => [
          attributeOf(input, 'name'),
          attributeOf(input, 'value'),
        ]),
      ),
    }),
  )
}

function attributeOf(tag: string, name: string): string {
  return unescape(new RegExp(`\\b${name}="([^"]*)"`).exec(tag)?.[1] ?? '')
}

function unescape(text: string): string {
  return text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&')
}

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
