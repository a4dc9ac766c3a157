// The place of the conversation while an answer grows, in a real Chromium.
import { script } from '@mcp-host/testkit'
import type { BrowserContext } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { ChatTab } from './web-host.ts'
import { NEEDS_BROWSER, WebHost } from './web-host.ts'

/** Answers of several heights of the window, a line in each frame or two. */
const LINE = 'A line of the answer.\n\n'
const LINES = 120
const QUICK = { tokensPerSecond: 200 }
/** So many frames are looked at; the answer grows in about each second one. */
const FRAMES = 60
/** In pixels. */
const WHEEL = 300
const MAX_JUMP = 1

/** Runs in pages: notes the place of the list after each frame, and whether turns take the pointer. */
const PROBE = `(() => {
  globalThis.places = []
  const { port1, port2 } = new MessageChannel()
  // After the paint.
  port1.onmessage = () => {
    const list = document.querySelector('.turns')
    const turn = list?.querySelector('.turn')
    if (turn == null) return
    const { scrollTop: top, scrollHeight: height, clientHeight: view } = list
    places.push({ top, height, below: height - view - top, pointer: getComputedStyle(turn).pointerEvents })
  }
  const onFrame = () => {
    port2.postMessage(0)
    requestAnimationFrame(onFrame)
  }
  requestAnimationFrame(onFrame)
})()`

/** In pixels. */
interface Place {
  readonly top: number
  readonly height: number
  /** What is hidden below. */
  readonly below: number
  readonly pointer: string
}

describe.skipIf(NEEDS_BROWSER !== '')(`the place in a chat${NEEDS_BROWSER}`, () => {
  let host: WebHost
  let context: BrowserContext
  let tab: ChatTab

  beforeAll(async () => {
    host = await WebHost.start({})
  })
  afterAll(() => host[Symbol.asyncDispose]())

  beforeEach(async () => {
    host.faults = []
    context = await host.browser.newContext({ viewport: { width: 1_280, height: 800 } })
    await context.addInitScript(PROBE)
    tab = await host.open(context)
    await tab.page.getByText('Ask for something a tool can do.').waitFor()
  })
  afterEach(() => host.leave(context))

  const sayLong = (): Promise<void> => tab.say(script({ text: LINE.repeat(LINES), ...QUICK }))

  const places = (): Promise<Place[]> => tab.page.evaluate<Place[]>('places')

  /** Waits until an answer that grows is higher than the list. */
  async function isHigh(): Promise<void> {
    await expect.poll(async () => (await places()).at(-1)?.top).toBeGreaterThan(2 * WHEEL)
    await tab.page.locator('.turn[data-state=running]').waitFor()
  }

  async function wheel(distance: number): Promise<void> {
    await tab.page.locator('.turns').hover()
    await tab.page.mouse.wheel(0, distance)
  }

  /** The places of the list in the next frames, while the answer grows. */
  async function watch(): Promise<Place[]> {
    await tab.page.evaluate('places.splice(0)')
    await expect.poll(async () => (await places()).length).toBeGreaterThan(FRAMES)
    const seen = await places()
    expect(seen.at(-1)?.height).toBeGreaterThan((seen[0]?.height ?? 0) + 100)
    return seen
  }

  /** Expects the end of the list in each frame. */
  function expectEnd(seen: readonly Place[]): void {
    expect(Math.max(...seen.map(({ below }) => below))).toBeLessThanOrEqual(MAX_JUMP)
  }

  /** Expects one place in all frames. */
  function expectRest(seen: readonly Place[]): void {
    const tops = seen.map(({ top }) => top)
    expect(Math.max(...tops) - Math.min(...tops)).toBeLessThanOrEqual(MAX_JUMP)
  }

  test('the list follows an answer, and what is in it takes the pointer', async () => {
    await sayLong()
    await isHigh()
    const seen = await watch()
    expectEnd(seen)
    expect(new Set(seen.map(({ pointer }) => pointer))).toEqual(new Set(['auto']))
  })

  test('the first answer of a chat can be left at once', async () => {
    await sayLong()
    await isHigh()
    await wheel(-WHEEL)
    await tab.button('Go to the latest message').waitFor()
    expectRest(await watch())
  })

  test('an answer can be left by a wheel of small steps', async () => {
    await sayLong()
    await isHigh()
    for (let step = 0; step < 10; step += 1) await wheel(-10)
    await tab.button('Go to the latest message').waitFor()
    expectRest(await watch())
  })

  test('a message straight after an answer is followed', async () => {
    await tab.say(script({ text: 'a short answer' }))
    await tab.done()
    await sayLong()
    await isHigh()
    expectEnd(await watch())
  })

  test('after the way back to the latest message the list follows again', async () => {
    await sayLong()
    await isHigh()
    await wheel(-WHEEL)
    await tab.button('Go to the latest message').click()
    expectEnd(await watch())
  })

  test('a message is shown, and its answer followed, wherever its user has read', async () => {
    await tab.say(script({ text: LINE.repeat(LINES) }))
    await tab.done()
    await wheel(-WHEEL)
    await tab.button('Go to the latest message').waitFor()
    await sayLong()
    await tab.page.locator('.turn[data-state=running]').waitFor()
    expectEnd(await watch())
  })

  test('the beginning of an answer that K leads to is left by the wheel', async () => {
    await sayLong()
    await isHigh()
    await tab.page.locator('.turns').focus()
    await tab.page.keyboard.press('k')
    await expect.poll(async () => (await places()).at(-1)?.top).toBe(0)
    await wheel(WHEEL)
    await expect.poll(async () => (await places()).at(-1)?.top).toBe(WHEEL)
    expectRest(await watch())
  })

  test('a chat is drawn at its end from the first frame', async () => {
    for (const name of ['one', 'two', 'three']) {
      await tab.say(script({ text: `${LINE.repeat(LINES)}end of ${name}` }))
      await tab.page.locator('.markdown', { hasText: `end of ${name}` }).waitFor()
    }
    await tab.page.reload()
    await tab.page.locator('.turn[data-state=done]').last().waitFor()
    await expect.poll(async () => (await places()).length).toBeGreaterThan(FRAMES)
    expectEnd(await places())
  })
})
