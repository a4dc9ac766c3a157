// The flows of the web UI in three browser engines: Chromium, Firefox and WebKit.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { HostApi } from '@mcp-host/client'
import {
  appServer,
  eventually,
  script,
  startTcpProxy,
  testFolder,
  APP_TOOLS,
} from '@mcp-host/testkit'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Engine, EnginePage } from './engines/index.ts'
import { ENGINES } from './engines/index.ts'
import type { WebStack } from './web-host.ts'
import { startWebStack } from './web-host.ts'
import { PASSWORD, WebUsers } from './web-users.ts'

/** An engine starts and draws slowly where it has no graphics card. */
const LIMIT_MS = 60_000

const asker = {
  command: process.execPath,
  args: [join(import.meta.dirname, '..', 'packages/testkit/fixtures/asking-server.ts')],
  scope: 'session',
}
const words = Array.from({ length: 60 }, (_, index) => `word${index}`).join(' ')

const open = new AsyncDisposableStack()
let host: WebStack
let loginHost: WebStack

beforeAll(async () => {
  const folder = open.use(await testFolder())
  const apps = appServer(join(folder.path, 'reports.jsonl'), 'http://127.0.0.1:1')
  host = open.use(
    await startWebStack({
      env: { TOOL_APPROVAL: 'test.remove' },
      tools: [
        { name: 'look', inputSchema: { type: 'object' }, answer: 'found it' },
        { name: 'remove', inputSchema: { type: 'object' } },
      ],
      servers: { asker, apps },
      toolCount: 3 + APP_TOOLS,
    }),
  )
  loginHost = open.use(await startWebStack({ asksForLogin: true }))
  await (await WebUsers.begin(loginHost)).add('bob')
})
afterAll(() => open.disposeAsync())

const quoted = (text: string): string => JSON.stringify(text)
const first = (selector: string): string => `document.querySelector(${quoted(selector)})`
const MESSAGE = first('.composer textarea')
/** What `dispatchEvent` returns of a paste that the page does not handle. */
const IS_LEFT_TO_BROWSER = true
const FILES = '.composer .files li'
const FILE_INPUT = first('.composer input[type=file]')

/** A visible button with a name. */
const button = (name: string): string =>
  `Array.from(document.querySelectorAll('button'))
    .find((each) => (each.ariaLabel ?? each.innerText).trim() === ${quoted(name)} && each.checkVisibility())`
const texts = (selector: string): string =>
  `Array.from(document.querySelectorAll(${quoted(selector)}), (each) => each.innerText.trim())`

/** In the page: the texts whose width is not that of their font and its size. */
const TEXT_SIZE_FAULTS = `(() => {
  const pen = document.createElement('canvas').getContext('2d')
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  const faults = []
  for (let text; (text = texts.nextNode()) !== null;) {
    const range = document.createRange()
    range.selectNodeContents(text)
    const lines = range.getClientRects()
    if (lines.length !== 1) continue
    const { fontStyle, fontWeight, fontSize, fontFamily } = getComputedStyle(text.parentElement)
    pen.font = [fontStyle, fontWeight, fontSize, fontFamily].join(' ')
    const share = lines[0].width / pen.measureText(text.data).width
    if (Math.abs(share - 1) > 0.04) faults.push(text.data + ' at ' + fontSize + ': ' + share)
  }
  return faults
})()`

/** In the page: the places of the ticks of a scale, above the part of it that is filled. */
const TICKS = `(() => {
  const { left, bottom, width } = document.querySelector('.scale').getBoundingClientRect()
  const pen = document.createElement('canvas').getContext('2d')
  pen.canvas.width = width
  pen.drawImage(picture, -left, 4 - bottom)
  const { data } = pen.getImageData(0, 0, width, 1)
  const grey = (x) => data[4 * x]
  const paper = grey(5)
  return Array.from({ length: width }, (_, x) => x).filter((x) => Math.abs(grey(x) - paper) > 20)
})()`

for (const kind of ENGINES) {
  const { name, missing } = kind
  const note = missing === undefined ? '' : ` (SKIPPED: this machine has no ${missing})`
  describe.skipIf(missing !== undefined)(`the web UI in ${name}${note}`, () => {
    let engine: Engine
    let page: EnginePage

    beforeAll(async () => {
      engine = await kind.start()
    })
    afterAll(() => engine[Symbol.asyncDispose]())
    beforeEach(async () => {
      page = await engine.page()
    })
    afterEach(() => page[Symbol.asyncDispose]())

    /** Waits until an expression is true in the page. */
    const until = (expression: string): Promise<unknown> => {
      // A page that is being left, or has no body yet, answers nothing.
      const probe = () => page.evaluate<boolean>(`Boolean(${expression})`).catch(() => false)
      return eventually(probe, { limitMs: LIMIT_MS, what: expression }).catch(
        async (error: unknown) => {
          const shown = await page.evaluate<string>('document.body.innerText')
          throw new Error(`${String(error)}. The page shows:\n${shown}`)
        },
      )
    }
    const click = async (element: string): Promise<void> => {
      await until(element)
      await page.click(element)
    }
    const shows = (selector: string, text: string): Promise<unknown> =>
      until(`${texts(selector)}.some((each) => each.includes(${quoted(text)}))`)
    const done = (turns = 1): Promise<unknown> =>
      until(`document.querySelectorAll('.turn[data-state=done]').length === ${turns}`)
    const answers = (): Promise<string[]> => page.evaluate(texts('.answer .markdown'))

    async function begin(url = host.url): Promise<void> {
      await page.open(url)
      await until(MESSAGE)
    }

    async function say(text: string): Promise<void> {
      await click(MESSAGE)
      await page.type(text)
      await page.press('Enter')
    }

    const call = (tool: string, given: object = {}): Promise<void> =>
      say(script({ calls: [{ name: tool, arguments: given }] }, { text: 'the end' }))

    const askFor = (properties: object): Promise<void> => {
      const params = { message: 'Your data?', requestedSchema: { type: 'object', properties } }
      return call('asker__ask', { method: 'elicitation/create', params })
    }

    test('a first message is answered, piece by piece', async () => {
      await begin()
      await say(script({ text: words, tokensPerSecond: 20 }))
      await shows('.turn[data-state=running] .markdown', 'word2')
      await done()
      expect(await answers()).toEqual([words])
    })

    test('a tool call is shown with its result', async () => {
      await begin()
      await call('test__look', { path: '/a' })
      await done()
      await click(first('.tool > summary'))
      await shows('.tool', 'found it')
      await shows('.tool .state', 'Done')
    })

    test('a tool call waits until its user allows it', async () => {
      await begin()
      await call('test__remove')
      await shows('.tool .state', 'Waiting for permission')
      await click(button('Allow'))
      await done()
      await shows('.tool .state', 'Done')
    })

    test('a form of a tool is filled in and sent', async () => {
      await begin()
      await askFor({
        name: { type: 'string' },
        class: { type: 'string', enum: ['second', 'first'] },
        window: { type: 'boolean' },
      })
      await click(first('.asks input:not([type=checkbox])'))
      await page.type('Ann')
      await click(first('.asks select'))
      await page.type('f')
      await page.press('Enter')
      await until(`${first('.asks select')}.value === 'first'`)
      await click(first('.asks input[type=checkbox]'))
      await click(button('Send answer'))
      await done()
      await click(first('.tool > summary'))
      await click(button('Raw'))
      await shows('.tool', '"content":{"name":"Ann","class":"first","window":true}')
    })

    test('an edited message is a version beside the first one', async () => {
      await begin()
      await say(script({ text: 'one' }))
      await done()
      await click(button('Edit'))
      await until(first('.turn textarea'))
      await page.evaluate(`${first('.turn textarea')}.select()`)
      await page.type(script({ text: 'two' }))
      await click(button('Send as a new version'))
      await shows('.turn[data-state=done] .markdown', 'two')
      await shows('[role=group][aria-label=Versions]', '2 of 2')
      await click(button('Earlier version'))
      await shows('.turn[data-state=done] .markdown', 'one')
    })

    /** In the page: puts text, HTML and pictures in a paste into the message, or a drop on the page. */
    const give = (
      type: 'paste' | 'drop',
      parts: Readonly<Record<string, string>>,
      ...files: string[]
    ) =>
      page.evaluate(`(() => {
          const data = new DataTransfer()
          for (const [type, part] of Object.entries(${JSON.stringify(parts)})) data.setData(type, part)
          for (const name of ${JSON.stringify(files)}) {
            const type = name.endsWith('.png') ? 'image/png' : 'text/plain'
            data.items.add(new File(['a file'], name, { type }))
          }
          const isPaste = ${quoted(type)} === 'paste'
          const event = new (isPaste ? ClipboardEvent : DragEvent)(${quoted(type)}, { bubbles: true, cancelable: true })
          // Firefox takes no clipboard from the constructor.
          Object.defineProperty(event, isPaste ? 'clipboardData' : 'dataTransfer', { value: data })
          return ${MESSAGE}.dispatchEvent(event)
        })()`)

    test('files are chosen, pasted and dropped, and go along with the message', async () => {
      await using folder = await testFolder()
      const path = join(folder.path, 'chosen.txt')
      await writeFile(path, 'a note')
      await begin()
      await page.choose(FILE_INPUT, path)
      await shows(FILES, 'chosen.txt')
      await give('paste', {}, 'pasted.png')
      await shows(FILES, 'pasted.png')
      await give('drop', {}, 'dropped.txt')
      await shows(FILES, 'dropped.txt')
      await until(`!${texts(FILES)}.some((each) => each.includes('Storing'))`)
      await say(script({ text: 'seen' }))
      await done()
      const sessionId = await page.evaluate<string>("location.hash.split('/')[2]")
      const { messages } = await new HostApi({ url: host.url }).messages(sessionId)
      expect(
        messages.flatMap(({ metadata }) => (metadata.attachments ?? []).map((each) => each.name)),
      ).toEqual(['chosen.txt', 'pasted.png', 'dropped.txt'])
    })

    test('cells of a spreadsheet are pasted and dropped as text, without a picture of them', async () => {
      const cells = {
        'text/plain': 'Tea\t3',
        'text/html': '<table><tr><td>Tea</td><td>3</td></tr></table>',
      }
      await begin()
      expect(await give('paste', cells, 'image.png')).toBe(IS_LEFT_TO_BROWSER)
      await give('drop', cells, 'image.png')
      await until(`${MESSAGE}.value === ${quoted('Tea\t3')}`)
      // By the clipboard of the browser, as the keys of a user do.
      await page.evaluate(`addEventListener('copy', (event) => {
        for (const [type, part] of Object.entries(${JSON.stringify(cells)}))
          event.clipboardData.setData(type, part)
        event.preventDefault()
      }, { once: true })`)
      await click(MESSAGE)
      await page.evaluate(`${MESSAGE}.select()`)
      await page.press('Control+C')
      await page.press('Control+V')
      await page.press('Control+V')
      await until(`${MESSAGE}.value === ${quoted('Tea\t3Tea\t3')}`)
      expect(await page.evaluate(texts(FILES))).toEqual([])
    })

    test('the Enter that confirms a conversion of an input method does not send', async () => {
      await begin()
      await click(MESSAGE)
      await page.type('てんき')
      // The Enter comes before the end of the composition; in Safari, after it.
      for (const isComposing of [true, false])
        await page.evaluate(`(() => {
            const event = (name) => ${MESSAGE}.dispatchEvent(new CompositionEvent(name, { bubbles: true }))
            const about = { key: 'Enter', keyCode: 229, isComposing: ${isComposing}, bubbles: true, cancelable: true }
            const enter = () => ${MESSAGE}.dispatchEvent(new KeyboardEvent('keydown', about))
            event('compositionstart')
            if (${isComposing}) enter()
            event('compositionend')
            if (!${isComposing}) enter()
          })()`)
      await page.press('Enter')
      await done()
      expect(await page.evaluate(texts('.bubble'))).toEqual(['てんき'])
    })

    test('a user logs in, chats and logs out', async () => {
      await page.open(loginHost.url)
      await until("document.activeElement.name === 'name'")
      await page.type('bob')
      await page.press('Tab')
      await page.type(PASSWORD)
      await page.press('Enter')
      await until(MESSAGE)
      await say(script({ text: 'hello bob' }))
      await done()
      await page.open(`${loginHost.url}/login`)
      await click(button('Log out'))
      await shows('h1', 'You are logged out')
    })

    test('after a loss of the connection, the answer goes on where it was', async () => {
      await using proxy = await startTcpProxy()
      proxy.route(host.url)
      await begin(proxy.url)
      await say(script({ text: words, tokensPerSecond: 20 }))
      await shows('.turn[data-state=running] .markdown', 'word2')
      proxy.reset()
      await until(`${MESSAGE}.placeholder.includes('reconnecting')`)
      proxy.reset(host.url)
      await done()
      expect(await answers()).toEqual([words])
    })

    test('text has the size that its style says', async () => {
      await begin()
      await say(script({ text: 'words and `a piece of code`' }))
      await done()
      expect(await page.evaluate<string[]>(TEXT_SIZE_FAULTS)).toEqual([])
    })

    async function shownTicks(): Promise<number[]> {
      const url = `data:image/png;base64,${(await page.screenshot()).toString('base64')}`
      await page.evaluate(
        `void Object.assign((globalThis.picture = new Image()), { src: ${quoted(url)} })`,
      )
      await until('picture.complete && picture.naturalWidth > 0')
      return page.evaluate(TICKS)
    }

    test('a scale has ten ticks, and the list of models is drawn as the page is', async () => {
      await begin()
      const look = '(({ appearance, backgroundColor }) => `${appearance} ${backgroundColor}`)'
      const select = first('.composer .model select')
      expect(await page.evaluate(`${look}(getComputedStyle(${select}))`)).toBe(
        'none rgba(0, 0, 0, 0)',
      )
      await page.evaluate(`(() => {
        const scale = document.createElement('meter')
        scale.className = 'scale'
        scale.value = 0.5
        scale.style = 'position: fixed; left: 10px; top: 10px'
        document.body.replaceChildren(scale)
      })()`)
      const ticks = Array.from({ length: 10 }, (_, tick) => 10 * tick).concat(99)
      // A picture may be of the page before it was drawn again.
      await expect.poll(shownTicks, { timeout: LIMIT_MS }).toEqual(ticks)
    })

    test('an app shows the result of its call, and calls a tool', async () => {
      await begin()
      await call('apps__board', { city: 'Rome' })
      await done()
      const app = page.frame('.app-frame', 'iframe')
      const inApp = (id: string, text: string) =>
        eventually(
          () =>
            app
              .evaluate<boolean>(`${first(`#${id}`)}?.innerText.includes(${quoted(text)})`)
              .catch(() => false),
          { limitMs: LIMIT_MS, what: `${text} in the app` },
        )
      await inApp('input', 'Rome')
      await inApp('result', 'two')
      await app.click(first('#refresh'))
      await inApp('answer', 'refresh was called')
    })
  })
}
