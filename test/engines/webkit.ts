import { Buffer } from 'node:buffer'
import { tmpdir } from 'node:os'
import { eventually } from '@mcp-host/testkit'
import { freePort } from '@mcp-host/tools/host'
import { Guardian, spawnGuarded } from '@mcp-host/process'
import type { Engine, EngineFrame, EngineKey, EnginePage } from './engine.ts'
import { WINDOW } from './engine.ts'

/** The key of references to elements in the WebDriver protocol. */
const ELEMENT = 'element-6066-11e4-a52e-4f735466cecf'
/** Keys of the WebDriver protocol, in the order in which they go down. */
const KEYS: Readonly<Record<EngineKey, readonly string[]>> = {
  Enter: ['\uE007'],
  Tab: ['\uE004'],
  'Control+C': ['\uE009', 'c'],
  'Control+V': ['\uE009', 'v'],
}

export interface WebkitPrograms {
  readonly driver: string
  readonly xvfb: string
  readonly browser: string
}

/** Starts WebKitGTK with its driver, on a screen of its own. */
export async function startWebkit({ driver, xvfb, browser }: WebkitPrograms): Promise<Engine> {
  await using stack = new AsyncDisposableStack()
  const guardian = stack.use(new Guardian())
  const { PATH, HOME } = process.env
  const screen = await spawnGuarded(guardian, {
    command: xvfb,
    args: ['-displayfd', '1', '-screen', '0', '1280x1024x24', '-nolisten', 'tcp'],
    cwd: tmpdir(),
    env: { PATH },
    stderr: 'ignore',
  })
  let display = ''
  screen.stdout?.setEncoding('utf8').on('data', (text: string) => (display += text))
  await eventually(() => display.endsWith('\n'), { what: 'a screen of Xvfb' })
  const port = await freePort()
  await spawnGuarded(guardian, {
    command: driver,
    args: [`--port=${port}`],
    cwd: tmpdir(),
    env: {
      PATH,
      HOME,
      DISPLAY: `:${display.trim()}`,
      // Containers have no user namespaces.
      WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS: '1',
    },
    stdout: 'ignore',
    stderr: 'ignore',
  })
  const url = `http://127.0.0.1:${port}`
  await eventually(
    () =>
      fetch(`${url}/status`).then(
        ({ ok }) => ok,
        () => false,
      ),
    { what: 'WebKitWebDriver' },
  )
  const open = stack.move()
  return {
    async page() {
      const options = { binary: browser, args: ['--automation'] }
      const alwaysMatch = { 'webkitgtk:browserOptions': options }
      const { sessionId } = await ask<{ readonly sessionId: string }>(`${url}/session`, {
        capabilities: { alwaysMatch },
      })
      const page = new WebkitPage(`${url}/session/${sessionId}`)
      await page.resize()
      return page
    },
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  }
}

interface KeyAction {
  readonly type: 'keyDown' | 'keyUp'
  readonly value: string
}

const down = (value: string): KeyAction => ({ type: 'keyDown', value })
const up = (value: string): KeyAction => ({ type: 'keyUp', value })

/** A command of the WebDriver protocol. */
async function ask<T>(url: string, body?: object, method = body ? 'POST' : 'GET'): Promise<T> {
  const response = await fetch(url, { method, ...(body && { body: JSON.stringify(body) }) })
  // The protocol gives each answer this field.
  const { value } = (await response.json()) as { readonly value: T }
  if (!response.ok) throw new Error(`${method} ${new URL(url).pathname}: ${JSON.stringify(value)}`)
  return value
}

class WebkitFrame implements EngineFrame {
  protected readonly session: string
  readonly #selectors: readonly string[]

  constructor(session: string, selectors: readonly string[]) {
    this.session = session
    this.#selectors = selectors
  }

  async evaluate<T>(expression: string): Promise<T> {
    await this.#enter()
    return this.#run<T>(expression)
  }

  async click(element: string): Promise<void> {
    await ask(`${await this.element(element)}/click`, {})
  }

  /** The URL of an element. */
  protected async element(expression: string): Promise<string> {
    await this.#enter()
    return `${this.session}/element/${(await this.#find(expression))[ELEMENT]}`
  }

  async #enter(): Promise<void> {
    await ask(`${this.session}/frame`, { id: null })
    for (const selector of this.#selectors) {
      const id = await this.#find(`document.querySelector(${JSON.stringify(selector)})`)
      await ask(`${this.session}/frame`, { id })
    }
  }

  async #find(expression: string): Promise<Record<string, string>> {
    const found = await this.#run<Record<string, string> | null>(expression)
    if (found === null) throw new Error(`no element: ${expression}`)
    return found
  }

  #run<T>(expression: string): Promise<T> {
    // An expression may begin with a comment or a line end.
    const script = `return (${expression}\n)`
    return ask<T>(`${this.session}/execute/sync`, { script, args: [] })
  }
}

class WebkitPage extends WebkitFrame implements EnginePage {
  constructor(session: string) {
    super(session, [])
  }

  /** Gives the window the size of those of other engines. */
  async resize(): Promise<void> {
    await ask(`${this.session}/window/rect`, { x: 0, y: 0, ...WINDOW })
  }

  async open(url: string): Promise<void> {
    await ask(`${this.session}/url`, { url })
  }

  frame(...selectors: readonly string[]): EngineFrame {
    return new WebkitFrame(this.session, selectors)
  }

  type(text: string): Promise<void> {
    return this.#act(Array.from(text).flatMap((key) => [down(key), up(key)]))
  }

  press(key: EngineKey): Promise<void> {
    const keys = KEYS[key]
    return this.#act([...keys.map(down), ...keys.toReversed().map(up)])
  }

  async choose(input: string, path: string): Promise<void> {
    await ask(`${await this.element(input)}/value`, { text: path })
  }

  async screenshot(): Promise<Buffer> {
    return Buffer.from(await ask<string>(`${this.session}/screenshot`), 'base64')
  }

  async #act(actions: readonly KeyAction[]): Promise<void> {
    await ask(`${this.session}/actions`, { actions: [{ type: 'key', id: 'keyboard', actions }] })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await ask(this.session, undefined, 'DELETE')
  }
}
