import { Buffer } from 'node:buffer'
import type { ElementHandle, Frame, LaunchOptions, Page } from 'puppeteer-core'
import { launch } from 'puppeteer-core'
import type { Engine, EngineFrame, EngineKey, EnginePage } from './engine.ts'
import { WINDOW } from './engine.ts'

/** Starts Chromium or Firefox, without a window. */
export async function startPuppeteer(options: LaunchOptions): Promise<Engine> {
  const browser = await launch({ ...options, defaultViewport: WINDOW })
  return {
    async page() {
      const context = await browser.createBrowserContext()
      return new PuppeteerPage(await context.newPage())
    },
    [Symbol.asyncDispose]: () => browser.close(),
  }
}

class PuppeteerFrame implements EngineFrame {
  readonly #frame: () => Promise<Frame>

  constructor(frame: () => Promise<Frame>) {
    this.#frame = frame
  }

  async evaluate<T>(expression: string): Promise<T> {
    // The caller knows the type of the expression.
    return (await (await this.#frame()).evaluate(expression)) as T
  }

  async click(element: string): Promise<void> {
    using found = await this.element(element)
    await found.click()
  }

  async element(expression: string): Promise<ElementHandle> {
    const found = (await (await this.#frame()).evaluateHandle(expression)).asElement()
    if (found === null) throw new Error(`no element: ${expression}`)
    // The expressions of callers give elements alone.
    return found as ElementHandle
  }
}

class PuppeteerPage extends PuppeteerFrame implements EnginePage {
  readonly #page: Page

  constructor(page: Page) {
    super(async () => page.mainFrame())
    this.#page = page
  }

  async open(url: string): Promise<void> {
    await this.#page.goto(url)
  }

  frame(...selectors: readonly string[]): EngineFrame {
    return new PuppeteerFrame(async () => {
      let frame = this.#page.mainFrame()
      for (const selector of selectors) {
        using element = await frame.$(selector)
        const inner = await element?.contentFrame()
        if (inner === undefined || inner === null) throw new Error(`no frame: ${selector}`)
        frame = inner
      }
      return frame
    })
  }

  type(text: string): Promise<void> {
    return this.#page.keyboard.type(text)
  }

  async press(key: EngineKey): Promise<void> {
    const { keyboard } = this.#page
    if (key === 'Enter' || key === 'Tab') return keyboard.press(key)
    await keyboard.down('Control')
    await keyboard.press(key === 'Control+C' ? 'c' : 'v')
    await keyboard.up('Control')
  }

  async choose(input: string, path: string): Promise<void> {
    using found = await this.element(input)
    await found.uploadFile(path)
  }

  async screenshot(): Promise<Buffer> {
    return Buffer.from(await this.#page.screenshot())
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#page.browserContext().close()
  }
}
