import type { Stack, StackOptions } from '@mcp-host/testkit'
import { startStack, startTcpProxy } from '@mcp-host/testkit'
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core'
import { buildWeb, webFolder } from '../tools/web/build-web.ts'
import { chromiumPath, startBrowser } from './browser.ts'

/** For titles of tests: says it when they cannot run. */
export const NEEDS_BROWSER =
  chromiumPath === undefined ? ' (SKIPPED: this machine has no Chromium)' : ''

export interface WebHostOptions extends StackOptions {
  /** Whether the host has accounts, whose users log in. */
  readonly asksForLogin?: boolean
}

/** A host with the built web UI. */
export interface WebStack extends AsyncDisposable {
  readonly stack: Stack
  /** The address that browsers use. */
  readonly url: string
}

export async function startWebStack(options: WebHostOptions): Promise<WebStack> {
  const { env, asksForLogin, ...more } = options
  await using open = new AsyncDisposableStack()
  const folder = webFolder()
  await buildWeb(folder)
  // The address for logins is known before the gateway has a port.
  const proxy = asksForLogin === true ? open.use(await startTcpProxy()) : undefined
  const auth = proxy === undefined ? {} : { AUTH: 'local,keys', PUBLIC_URL: proxy.url }
  const settings = { WEB_FOLDER: folder, ...auth, ...env }
  const stack = open.use(await startStack({ ...more, env: settings }))
  proxy?.route(stack.url)
  const opened = open.move()
  return {
    stack,
    url: proxy?.url ?? stack.url,
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  }
}

export interface Visit {
  readonly context: BrowserContext
  readonly tab: ChatTab
}

/** A host with the built web UI, and a browser. */
export class WebHost implements AsyncDisposable {
  readonly stack: Stack
  /** The address that browsers use. */
  readonly url: string
  readonly browser: Browser
  /** What pages did that they must not do: errors, requests to other hosts, breaches of the policy. */
  faults: string[] = []
  readonly #open: AsyncDisposableStack

  private constructor(stack: Stack, url: string, browser: Browser, open: AsyncDisposableStack) {
    this.stack = stack
    this.url = url
    this.browser = browser
    this.#open = open
  }

  static async start(options: WebHostOptions): Promise<WebHost> {
    await using open = new AsyncDisposableStack()
    const { stack, url } = open.use(await startWebStack(options))
    const browser = await startBrowser()
    open.defer(() => browser.close())
    return new WebHost(stack, url, browser, open.move())
  }

  /** A page of the UI for one test, in a browser that keeps nothing of others. `leave` ends it. */
  async visit(options: BrowserContextOptions = {}, path = '/'): Promise<Visit> {
    this.faults = []
    const context = await this.browser.newContext(options)
    return { context, tab: await this.open(context, path) }
  }

  /** Ends a visit. Throws if one of its pages did what it must not do. */
  async leave(context: BrowserContext): Promise<void> {
    await context.close()
    if (this.faults.length > 0) throw new Error(this.faults.join('\n'))
  }

  /** A page of the UI. `path`: with the part behind `#`. */
  async open(context: BrowserContext, path = '/'): Promise<ChatTab> {
    const page = await context.newPage()
    page.setDefaultTimeout(20_000)
    page.on('pageerror', (error) => this.faults.push(error.message))
    page.on('dialog', (dialog) => {
      this.faults.push(`a dialog: ${dialog.message()}`)
      void dialog.dismiss()
    })
    page.on('console', (message) => {
      if (/content.security.policy/i.test(message.text())) this.faults.push(message.text())
    })
    page.on('request', (request) => {
      const url = request.url()
      const isOwn = url.startsWith(this.url) || /^(data|blob):/.test(url)
      if (!isOwn) this.faults.push(`a request to ${url}`)
    })
    await page.goto(`${this.url}${path}`)
    return new ChatTab(page)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#open.disposeAsync()
  }
}

/** A page of the UI as its user sees it. */
export class ChatTab {
  readonly page: Page

  constructor(page: Page) {
    this.page = page
  }

  /** Id of the shown session, once something was said in it. */
  get sessionId(): string {
    return new URL(this.page.url()).hash.split('/')[2] ?? ''
  }

  async say(text: string): Promise<void> {
    await this.page.getByLabel('Message', { exact: true }).fill(text)
    await this.page.keyboard.press('Enter')
  }

  button(name: string) {
    return this.page.getByRole('button', { name, exact: true })
  }

  /** Waits until so many turns are done. */
  async done(turns = 1): Promise<void> {
    const done = this.page.locator('.turn[data-state=done]').nth(turns - 1)
    await done.waitFor({ timeout: 60_000 }).catch(async (error: unknown) => {
      const shown = await this.page.locator('body').innerText()
      throw new Error(`turn ${turns} is not done. The page shows:\n${shown}`, { cause: error })
    })
  }

  /** Changes an answer of the host, and loads the page again. */
  async change(path: string, edit: (answer: Record<string, unknown>) => object): Promise<void> {
    await this.page.route(path, async (route) => {
      const response = await route.fetch()
      const answer = (await response.json()) as Record<string, unknown>
      await route.fulfill({ response, json: edit(answer) })
    })
    await this.page.reload()
  }

  /** Shows a server that the host does not have. */
  async addServer(server: string): Promise<void> {
    await this.change('**/health', ({ servers, ...health }) => ({
      ...health,
      servers: [...(servers as object[]), { server, state: 'ready' }],
    }))
  }

  /** Waits until an answer has a text, and is not at its end. */
  async answering(text: string): Promise<void> {
    await this.page.locator('.turn[data-state=running] .markdown', { hasText: text }).waitFor()
  }

  /** The text of the answers, block by block. */
  async answers(): Promise<string> {
    return (await this.page.locator('.markdown').allInnerTexts()).join('\n')
  }
}
