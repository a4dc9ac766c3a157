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

/** In the page: the place of the list after each of so many frames, and whether turns take the pointer. */
const WATCH = `(count) => new Promise((resolve) => {
  const list = document.querySelector('.turns')
  const seen = []
  const { port1, port2 } = new MessageChannel()
  // After the paint.
  port1.onmessage = () => {
    const { pointerEvents } = getComputedStyle(list.querySelector('.turn'))
    seen.push({ top: list.scrollTop, height: list.scrollHeight, pointerEvents })
    if (seen.length === count) resolve(seen)
    else requestAnimationFrame(() => port2.postMessage(0))
  }
  port2.postMessage(0)
})`

interface Seen {
  readonly top: number
  readonly height: number
  readonly pointerEvents: string
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
    ;({ context, tab } = await host.visit({ viewport: { width: 1_280, height: 800 } }))
    await tab.page.getByText('Ask for something a tool can do.').waitFor()
  })
  afterEach(() => host.leave(context))

  const sayLong = (): Promise<void> => tab.say(script({ text: LINE.repeat(LINES), ...QUICK }))

  /** Waits until an answer that grows is higher than the list. */
  async function isHigh(): Promise<void> {
    const isMore = `(({ scrollTop }) => scrollTop > ${2 * WHEEL})(document.querySelector('.turns'))`
    await expect.poll(() => tab.page.evaluate<boolean>(isMore)).toBe(true)
    await tab.page.locator('.turn[data-state=running]').waitFor()
  }

  /** What is seen of the list while the answer grows. */
  async function watch(): Promise<Seen[]> {
    const seen = await tab.page.evaluate<Seen[]>(`(${WATCH})(${FRAMES})`)
    expect(seen.at(-1)?.height).toBeGreaterThan((seen[0]?.height ?? 0) + 100)
    return seen
  }

  /** How far the list moves up and down, in pixels. */
  function moves(seen: readonly Seen[]): { readonly up: number; readonly down: number } {
    const steps = seen.slice(1).map(({ top }, index) => top - (seen[index]?.top ?? 0))
    return { up: -Math.min(...steps), down: Math.max(...steps) }
  }

  test('the list follows an answer, and what is in it takes the pointer', async () => {
    await sayLong()
    await isHigh()
    const seen = await watch()
    expect(moves(seen).up).toBeLessThanOrEqual(0)
    expect(moves(seen).down).toBeGreaterThan(0)
    expect(new Set(seen.map(({ pointerEvents }) => pointerEvents))).toEqual(new Set(['auto']))
  })

  test('the first answer of a chat can be left at once', async () => {
    await sayLong()
    await isHigh()
    await tab.page.locator('.turns').hover()
    await tab.page.mouse.wheel(0, -WHEEL)
    await tab.button('Go to the latest message').waitFor()
    const seen = await watch()
    expect(moves(seen).up).toBeLessThanOrEqual(MAX_JUMP)
    expect(moves(seen).down).toBeLessThanOrEqual(MAX_JUMP)
  })

  test('a message straight after an answer is followed', async () => {
    await tab.say(script({ text: 'a short answer' }))
    await tab.done()
    await sayLong()
    await isHigh()
    expect(moves(await watch()).up).toBeLessThanOrEqual(0)
  })

  test('after the way back to the latest message the list follows again', async () => {
    await sayLong()
    await isHigh()
    await tab.page.locator('.turns').hover()
    await tab.page.mouse.wheel(0, -WHEEL)
    await tab.button('Go to the latest message').click()
    const seen = await watch()
    expect(moves(seen).up).toBeLessThanOrEqual(0)
    expect(moves(seen).down).toBeGreaterThan(0)
  })

  test('the beginning of an answer that K leads to is left by the wheel', async () => {
    await sayLong()
    await isHigh()
    await tab.page.locator('.turns').focus()
    await tab.page.keyboard.press('k')
    const top = "document.querySelector('.turns').scrollTop"
    await expect.poll(() => tab.page.evaluate<number>(top)).toBe(0)
    await tab.page.locator('.turns').hover()
    await tab.page.mouse.wheel(0, WHEEL)
    await expect.poll(() => tab.page.evaluate<number>(top)).toBe(WHEEL)
    const seen = await watch()
    expect(moves(seen).up).toBeLessThanOrEqual(MAX_JUMP)
    expect(moves(seen).down).toBeLessThanOrEqual(MAX_JUMP)
  })
})
