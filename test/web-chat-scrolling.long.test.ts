// The place of the conversation while an answer grows, in a real Chromium.
import { setTimeout as delay } from 'node:timers/promises'
import { script } from '@mcp-host/testkit'
import type { BrowserContext } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { ChatTab } from './web-host.ts'
import { NEEDS_BROWSER, WebHost } from './web-host.ts'

/** Answers of several heights of the window, a line in each frame or two. */
const LINE = 'A line of the answer.\n\n'
const LINES = 120
const QUICK = { tokensPerSecond: 200 }
/** Number of frames in a measurement; the answer grows in about each second one. */
const FRAMES = 60
/** virtua keeps the end of an item for so long after a scrolling, in ms. */
const VIRTUA_MS = 200
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
  /** Height of the content below the view. */
  readonly below: number
  readonly pointer: string
}

describe.skipIf(NEEDS_BROWSER !== '')(`the place in a chat${NEEDS_BROWSER}`, () => {
  let host: WebHost
  let context: BrowserContext
  let tab: ChatTab

  beforeAll(async () => {
    const result = 'A line of the result.\n'.repeat(100)
    host = await WebHost.start({
      env: { TOOL_APPROVAL: 'test.remove' },
      tools: [
        { name: 'look', inputSchema: { type: 'object' }, answer: result },
        { name: 'remove', inputSchema: { type: 'object' } },
      ],
      toolCount: 2,
    })
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

  /** Waits until so much of an answer that grows is above the list, in pixels. */
  async function isHigh(above = 2 * WHEEL): Promise<void> {
    await expect.poll(async () => (await places()).at(-1)?.top).toBeGreaterThan(above)
    await tab.page.locator('.turn[data-state=running]').waitFor()
  }

  async function wheel(distance: number): Promise<void> {
    await tab.page.locator('.turns').hover()
    await tab.page.mouse.wheel(0, distance)
  }

  /** Starts a long answer, and waits until the list has scrolled. */
  async function growHigh(): Promise<void> {
    await sayLong()
    await isHigh()
  }

  async function leaveEnd(): Promise<void> {
    await wheel(-WHEEL)
    await tab.button('Go to the latest message').waitFor()
  }

  /** The places of the list in the next frames. */
  async function nextPlaces(): Promise<Place[]> {
    await tab.page.evaluate('places.splice(0)')
    await expect.poll(async () => (await places()).length).toBeGreaterThan(FRAMES)
    return places()
  }

  /** The places of the list in the next frames, while the answer grows. */
  async function watch(): Promise<Place[]> {
    const seen = await nextPlaces()
    expect(seen.at(-1)?.height).toBeGreaterThan((seen[0]?.height ?? 0) + 100)
    return seen
  }

  /** Expects the end of the list in each frame. */
  function expectEnd(seen: readonly Place[]): void {
    expect(Math.max(...seen.map(({ below }) => below))).toBeLessThanOrEqual(MAX_JUMP)
  }

  const topOf = async (selector: string): Promise<number> =>
    (await tab.page.locator(selector).boundingBox())?.y ?? Number.NaN

  /** Expects one place in all frames. */
  function expectRest(seen: readonly Place[]): void {
    const tops = seen.map(({ top }) => top)
    expect(Math.max(...tops) - Math.min(...tops)).toBeLessThanOrEqual(MAX_JUMP)
  }

  test('the list follows an answer, and what is in it takes the pointer', async () => {
    await growHigh()
    const seen = await watch()
    expectEnd(seen)
    expect(new Set(seen.map(({ pointer }) => pointer))).toEqual(new Set(['auto']))
  })

  test('the first answer of a chat can be left at once', async () => {
    await growHigh()
    await leaveEnd()
    expectRest(await watch())
  })

  test('an answer can be left by a wheel of small steps', async () => {
    await growHigh()
    for (let step = 0; step < 10; step += 1) await wheel(-10)
    await tab.button('Go to the latest message').waitFor()
    expectRest(await watch())
  })

  test('a message straight after an answer is followed', async () => {
    await tab.say(script({ text: 'a short answer' }))
    await tab.done()
    await growHigh()
    expectEnd(await watch())
  })

  test('after the way back to the latest message the list follows again', async () => {
    await growHigh()
    await wheel(-WHEEL)
    await tab.button('Go to the latest message').click()
    expectEnd(await watch())
  })

  test('a message is shown, and its answer followed, wherever its user has read', async () => {
    await tab.say(script({ text: LINE.repeat(LINES) }))
    await tab.done()
    await leaveEnd()
    await sayLong()
    await tab.page.locator('.turn[data-state=running]').waitFor()
    expectEnd(await watch())
  })

  test('the beginning of an answer that K leads to is left by the wheel', async () => {
    await growHigh()
    await tab.page.locator('.turns').focus()
    await tab.page.keyboard.press('k')
    await expect.poll(async () => (await places()).at(-1)?.top).toBe(0)
    await wheel(WHEEL)
    await expect.poll(async () => (await places()).at(-1)?.top).toBe(WHEEL)
    expectRest(await watch())
  })

  const look = { calls: [{ name: 'test__look', arguments: {} }] }

  test('a card that is opened at the end stays where it is', async () => {
    await tab.say(script(look, { text: LINE.repeat(2) }))
    await tab.done()
    const before = await topOf('.tool > summary')
    await tab.page.locator('.tool > summary').click()
    await tab.page.getByText('A line of the result.').first().waitFor()
    expect(await topOf('.tool > summary')).toBe(before)
    await tab.page.locator('.tool > summary').click()
    await tab.button('Go to the latest message').waitFor({ state: 'detached' })
    // The message comes from another tab.
    const other = await host.open(context, `/#/chat/${tab.sessionId}`)
    await other.page.locator('.turn').waitFor()
    await other.say(script({ text: LINE.repeat(LINES), ...QUICK }))
    await tab.page.bringToFront()
    await isHigh()
    expectEnd(await watch())
  })

  test('a card that is opened above an answer that grows stays where it is', async () => {
    await tab.say(script(look, { text: LINE.repeat(LINES), tokensPerSecond: 50 }))
    await tab.page.locator('.markdown').waitFor()
    await tab.page.locator('.tool > summary').click()
    const before = await topOf('.tool > summary')
    await watch()
    expect(await topOf('.tool > summary')).toBe(before)
  })

  test('a card that is pressed while the list follows opens where it was pressed', async () => {
    await tab.say(script(look, { text: LINE.repeat(LINES), tokensPerSecond: 50 }))
    await tab.page.locator('.markdown > p').nth(3).waitFor()
    // The list moves away from under a mouse of the test.
    const send = (type: string): string =>
      `summary.dispatchEvent(new PointerEvent('${type}', { bubbles: true, isPrimary: true, button: 0 }))`
    const summary = "const summary = document.querySelector('.tool > summary')"
    await tab.page.evaluate(`{ ${summary}; ${send('pointerdown')} }`)
    await watch()
    const before = await topOf('.tool > summary')
    await tab.page.evaluate(`{ ${summary}; ${send('pointerup')}; summary.click() }`)
    await tab.page.getByText('A line of the result.').first().waitFor()
    expect(await topOf('.tool > summary')).toBe(before)
  })

  test('text that is selected in an answer that grows stays where it is', async () => {
    await growHigh()
    const line = tab.page.locator('.markdown > p').last()
    const { x = 0, y = 0 } = (await line.boundingBox()) ?? {}
    await tab.page.mouse.move(x + 2, y + 8)
    await tab.page.mouse.down()
    await tab.page.mouse.move(x + 100, y + 8, { steps: 3 })
    // virtua may still keep the end for one line.
    await delay(VIRTUA_MS)
    expectRest(await watch())
    await tab.page.mouse.up()
    expectRest(await watch())
    expect(await tab.page.evaluate('getSelection().toString()')).toMatch(/^A? ?line of/)
    await tab.button('Go to the latest message').waitFor()
  })

  test('the list rests while a pointer is pressed in it, and then follows again', async () => {
    await growHigh()
    await tab.page.locator('.turns').hover()
    await tab.page.mouse.down()
    // virtua may still keep the end for one line.
    await delay(VIRTUA_MS)
    expectRest(await watch())
    await tab.page.mouse.up()
    await expect.poll(async () => (await places()).at(-1)?.below).toBeLessThanOrEqual(MAX_JUMP)
    expectEnd(await watch())
  })

  test('the place stays when an answer ends that had begun before the page was loaded', async () => {
    await tab.say(script({ text: LINE.repeat(3 * LINES), ...QUICK }))
    await isHigh(20 * WHEEL)
    await tab.page.reload()
    await isHigh()
    await leaveEnd()
    const shown = await tab.page.locator('.markdown > p').count()
    const line = tab.page.locator('.markdown > p').nth(shown - 10)
    const before = (await line.boundingBox())?.y ?? Number.NaN
    await tab.page.locator('.turn[data-state=running]').waitFor()
    await tab.done()
    expect(Math.abs(((await line.boundingBox())?.y ?? 0) - before)).toBeLessThanOrEqual(MAX_JUMP)
  })

  test('the place stays in a window of another width', async () => {
    const lines = Array.from({ length: 60 }, (_, index) => `${index} ${'words '.repeat(60)}`)
    await tab.say(script({ text: lines.join('\n\n') }))
    await tab.done()
    await wheel(-3_000)
    await tab.button('Go to the latest message').waitFor()
    const edge = await topOf('.turns')
    const first = tab.page.locator('.markdown > p', { hasText: /^30 / })
    await first.evaluate((element) => element.scrollIntoView())
    expectRest(await nextPlaces())
    for (const width of [500, 1_280]) {
      await tab.page.setViewportSize({ width, height: 800 })
      await expect
        .poll(async () => Math.abs(((await first.boundingBox())?.y ?? 0) - edge))
        .toBeLessThanOrEqual(MAX_JUMP)
    }
  })

  test('the key End follows an answer that grows', async () => {
    await growHigh()
    await leaveEnd()
    await tab.page.locator('.turns').focus()
    await tab.page.keyboard.press('End')
    expectEnd(await watch())
  })

  test('code that grows shows its end, in colours', async () => {
    const line = 'const value = [1, 2, 3]\n'
    const text = `Code:\n\n\`\`\`js\n${line.repeat(150)}\`\`\``
    await tab.say(script({ text, tokensPerSecond: 400 }))
    const code = tab.page.locator('.code pre')
    /** How far the shown part is from the end of the code, in pixels. */
    const hidden = (): Promise<number> =>
      code.evaluate((pre) => {
        const last = pre.ownerDocument.createRange()
        last.selectNodeContents(pre)
        return last.getBoundingClientRect().bottom - pre.getBoundingClientRect().bottom
      })
    await expect
      .poll(() =>
        code.evaluate(({ scrollHeight, clientHeight }) => scrollHeight > 1.5 * clientHeight),
      )
      .toBe(true)
    expect(await hidden()).toBeLessThanOrEqual(MAX_JUMP)
    expect(await code.locator('span').count()).toBeGreaterThan(10)
    await tab.page.locator('.turn[data-state=running]').waitFor()
    await tab.done()
    expect(await hidden()).toBeGreaterThan(MAX_JUMP)
  })

  test('the button leads to a question below the view', async () => {
    const text = LINE.repeat(LINES)
    const call = { name: 'test__remove', arguments: {} }
    await tab.say(script({ text, ...QUICK, calls: [call] }, { text: 'end' }))
    await isHigh()
    await leaveEnd()
    await tab.button('Go to the question for you').click()
    await tab.button('Allow').click()
    await tab.done()
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
