// A chat of 10,000 messages in the web UI, in a real Chromium.
import { script, writeLongSession } from '@mcp-host/testkit'
import type { BrowserContext, Locator, Request } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { ChatTab } from './web-host.ts'
import { NEEDS_BROWSER, WebHost } from './web-host.ts'
import { Pictures } from './web-pictures.ts'

/** A message and an answer each. */
const TURNS = 5_000
/** The most turns that may be in the page at once. */
const MAX_DRAWN = 100
/** How far a turn may move beside the scrolling of the user, in pixels. */
const MAX_JUMP = 2
const WHEEL = 300
/** Two pages of turns are less high than so many wheels. */
const MAX_WHEELS = 150
const WINDOW = { width: 1_280, height: 800 }

/** In the page: the numbers of the turns that are in view, and their distance from the top, from the highest. */
const VISIBLE_TURNS = `Array.from(document.querySelectorAll('.turn'), (turn) => {
  const { top, bottom } = turn.getBoundingClientRect()
  const list = turn.closest('[aria-label=Messages]').getBoundingClientRect()
  const number = Number(/in turn (\\d+),/.exec(turn.textContent)?.[1])
  return { number, top, isInView: bottom > list.top && top < list.bottom }
}).filter(({ isInView }) => isInView).sort((one, other) => one.top - other.top)`

const turnsOf = (turns: readonly VisibleTurn[]): string =>
  `turns ${turns.map(({ number }) => number).join()}`

interface VisibleTurn {
  readonly number: number
  /** In pixels from the top of the window. */
  readonly top: number
}

/** Whether a page asks for a page of the history before the newest one. */
function isOlderPage(request: Request): boolean {
  return /\/messages\?.*before=/.test(request.url())
}

describe.skipIf(NEEDS_BROWSER !== '')(`a chat of 10,000 messages${NEEDS_BROWSER}`, () => {
  let host: WebHost
  let session: string
  let context: BrowserContext
  let tab: ChatTab
  /** Pages of the history that were asked for, and that have arrived. */
  let asked: number
  let loaded: number

  beforeAll(async () => {
    host = await WebHost.start({})
    await host.stack.kill('orchestrator')
    session = await writeLongSession(host.stack.broker, { turns: TURNS })
    await host.stack.restart('orchestrator')
  })
  afterAll(() => host[Symbol.asyncDispose]())

  beforeEach(async () => {
    host.faults = []
    context = await host.browser.newContext({ viewport: WINDOW })
    asked = 0
    loaded = 0
    context.on('request', (request) => {
      if (isOlderPage(request)) asked += 1
    })
    context.on('requestfinished', (request) => {
      if (isOlderPage(request)) loaded += 1
    })
    tab = await host.open(context, `/#/chat/${session}`)
  })
  afterEach(() => host.leave(context))

  const messages = (): Locator => tab.page.getByRole('group', { name: 'Messages' })
  const newest = (): Locator => tab.page.getByText(`the model answers in turn ${TURNS - 1},`)
  const visible = (): Promise<VisibleTurn[]> => tab.page.evaluate(VISIBLE_TURNS)

  /** Waits until nothing is loaded and nothing moves, and returns the turns in view. */
  async function settled(): Promise<VisibleTurn[]> {
    let before = ''
    let turns: VisibleTurn[] = []
    await expect
      .poll(
        async () => {
          turns = await visible()
          const isSame = turns.length > 0 && asked === loaded && JSON.stringify(turns) === before
          before = JSON.stringify(turns)
          return isSame
        },
        { interval: 60 },
      )
      .toBe(true)
    return turns
  }

  test('a long chat opens at its newest message, and has few turns in the page', async () => {
    await newest().waitFor()
    const turns = await settled()
    expect(turns.at(-1)?.number).toBe(TURNS - 1)
    const { y = 0, height = 0 } = (await newest().boundingBox()) ?? {}
    expect(y).toBeGreaterThan(0)
    expect(y + height).toBeLessThan(WINDOW.height)
    expect(await tab.page.locator('.turn').count()).toBeLessThan(MAX_DRAWN)
    // The order is that of the history, without gaps.
    const first = turns[0]?.number ?? 0
    expect(turns.map(({ number }) => number)).toEqual(turns.map((_, at) => first + at))
  })

  test('older messages are loaded when the user scrolls up, and what is in view does not jump', async () => {
    await newest().waitFor()
    await settled()
    await messages().hover()
    const jumps: string[] = []
    let before = await settled()
    for (let wheels = 0; loaded < 2 && wheels < MAX_WHEELS; wheels += 1) {
      await tab.page.mouse.wheel(0, -WHEEL)
      const after = await settled()
      const moves = before.flatMap(({ number, top }) => {
        const moved = after.find((each) => each.number === number)
        return moved === undefined ? [] : moved.top - top
      })
      // A wheel shows less than a window of new turns.
      if (moves.length === 0 || moves.some((move) => Math.abs(move - WHEEL) > MAX_JUMP))
        jumps.push(`from ${turnsOf(before)} to ${turnsOf(after)} by ${moves.join()} px`)
      expect(await tab.page.locator('.turn').count()).toBeLessThan(MAX_DRAWN)
      before = after
    }
    expect(jumps).toEqual([])
    expect(loaded).toBe(2)
    expect(before[0]?.number).toBeLessThan(TURNS - 50)
    const latest = tab.button('Go to the latest message')
    await new Pictures(tab.page).take('state-earlier', latest, tab.page.locator('.composer'))
    await latest.click()
    await newest().waitFor()
    expect((await settled()).at(-1)?.number).toBe(TURNS - 1)
  })

  test('a message that is sent in a long chat is answered at its end', async () => {
    await newest().waitFor()
    await tab.say(script({ text: 'after all of it' }))
    const answer = tab.page.getByText('after all of it', { exact: true })
    await answer.waitFor()
    await settled()
    expect((await answer.boundingBox())?.y).toBeLessThan(WINDOW.height)
    expect(await tab.page.locator('.turn').count()).toBeLessThan(MAX_DRAWN)
  })
})
