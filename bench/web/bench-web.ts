import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { script, writeLongSession } from '@mcp-host/testkit'
import type { BrowserContext, Page } from 'playwright-core'
import type { ChatTab } from '../../test/web-host.ts'
import { WebHost } from '../../test/web-host.ts'
import { quantiles } from '../quantile.ts'

const TOKENS_PER_SECOND = 200
const ANSWER_BYTES = 20_000
const FIRST_TEXTS = 200
/** A message and an answer each. */
const LONG_TURNS = 2_500
const LAST_ANSWER = `the model answers in turn ${LONG_TURNS - 1},`
const SCROLLS = 300
const HEAP_MINUTES = Number(process.env['HEAP_MINUTES'] ?? 30)
const MEBIBYTE = 1024 * 1024

const GOALS = {
  stream: 'p99 of the work of a frame: 16 ms',
  text: 'p99 from the frame of the socket to the painted text: 30 ms',
  open: '1 s to the end of 5,000 messages; scrolling: 33 ms for each frame',
  heap: 'growth: 20 MB in 30 minutes',
}

type Part = (host: WebHost) => Promise<object>

const parts: Readonly<Record<keyof typeof GOALS, Part>> = { stream, text, open, heap }

/** The web UI in Chromium. Default: all parts but `heap`, which streams for half an hour (`HEAP_MINUTES`). */
export async function benchWeb(names: readonly string[]): Promise<object> {
  const figures: Record<string, object> = {}
  for (const name of names.length === 0 ? ['stream', 'text', 'open'] : names) {
    const part = Object.entries(parts).find(([each]) => each === name)?.[1]
    if (part === undefined) {
      throw new Error(`there is no part "${name}"; there are ${Object.keys(parts).join(', ')}`)
    }
    await using host = await WebHost.start({})
    const measured = await part(host)
    console.log(name, JSON.stringify(measured))
    figures[name] = measured
  }
  return { goals: GOALS, figures }
}

/** 200 tokens a second into an answer of 20 KB with Markdown of all kinds. */
async function stream(host: WebHost): Promise<object> {
  await using opened = await openTab(host)
  const { tab } = opened
  await tab.say(script({ text: 'warm up' }))
  await tab.done()
  await begin(tab.page)
  await ask(tab, script({ text: longAnswer(), tokensPerSecond: TOKENS_PER_SECOND }))
  return { frameMs: quantiles(await end(tab.page), 'p50', 'p99', 'max') }
}

/** The time from the arrival of a first text to its paint. */
async function text(host: WebHost): Promise<object> {
  await using opened = await openTab(host)
  const { tab } = opened
  for (let turn = 1; turn <= FIRST_TEXTS; turn += 1) {
    await tab.say(script({ text: `first-${turn}x and more`, tokensPerSecond: 50 }))
    await tab.page.locator('.markdown', { hasText: `first-${turn}x and more` }).waitFor()
  }
  const painted = await tab.page.evaluate<number[]>('probe.texts()')
  return { texts: painted.length, paintedMs: quantiles(painted, 'p50', 'p99', 'max') }
}

/** Opens and scrolls a session of 5,000 messages. */
async function open(host: WebHost): Promise<object> {
  await host.stack.kill('orchestrator')
  const session = await writeLongSession(host.stack.broker, { turns: LONG_TURNS })
  await host.stack.restart('orchestrator')
  // The orchestrator reads a session once without a snapshot.
  {
    await using before = await openTab(host, `/#/chat/${session}`)
    await before.tab.page.getByText(LAST_ANSWER).waitFor()
  }
  const at = performance.now()
  await using opened = await openTab(host, `/#/chat/${session}`)
  const { page } = opened.tab
  await page.getByText(LAST_ANSWER).waitFor()
  const openMs = Math.round(performance.now() - at)
  await page.locator('.turns').hover()
  await begin(page)
  for (let scroll = 0; scroll < SCROLLS; scroll += 1) {
    await page.mouse.wheel(0, -400)
    await delay(16)
  }
  return { openMs, scrollFrameMs: quantiles(await end(page), 'p50', 'p99', 'max') }
}

/** The growth of the heap of a page that shows one answer after another. */
async function heap(host: WebHost): Promise<object> {
  await using opened = await openTab(host)
  const { tab } = opened
  const answer = script({ text: longAnswer(), tokensPerSecond: TOKENS_PER_SECOND })
  const until = Date.now() + HEAP_MINUTES * 60_000
  let first: number | undefined
  let turns = 0
  while (Date.now() < until) {
    await ask(tab, answer)
    turns += 1
    first ??= await heapMb(opened.context, tab.page)
  }
  const last = await heapMb(opened.context, tab.page)
  return {
    minutes: HEAP_MINUTES,
    turns,
    firstMb: first,
    lastMb: last,
    growthMb: last - (first ?? 0),
  }
}

interface Opened extends AsyncDisposable {
  readonly context: BrowserContext
  readonly tab: ChatTab
  close(): Promise<void>
}

async function openTab(host: WebHost, path = '/'): Promise<Opened> {
  const context = await host.browser.newContext({ viewport: { width: 1280, height: 800 } })
  await context.addInitScript({ path: join(import.meta.dirname, 'page-probe.js') })
  const tab = await host.open(context, path)
  const close = (): Promise<void> => context.close()
  return { context, tab, close, [Symbol.asyncDispose]: close }
}

/** Says something, and waits until it is answered. The page has only the turns that are in view. */
async function ask(tab: ChatTab, message: string): Promise<void> {
  await tab.say(message)
  const running = tab.page.locator('.turn[data-state=running]')
  await running.waitFor()
  await running.waitFor({ state: 'detached', timeout: 180_000 })
}

const begin = (page: Page): Promise<void> => page.evaluate('probe.begin()')

const end = (page: Page): Promise<number[]> => page.evaluate('probe.end()')

async function heapMb(context: BrowserContext, page: Page): Promise<number> {
  const devtools = await context.newCDPSession(page)
  await devtools.send('HeapProfiler.collectGarbage')
  const { usedSize } = await devtools.send('Runtime.getHeapUsage')
  await devtools.detach()
  return Math.round((usedSize / MEBIBYTE) * 10) / 10
}

function longAnswer(): string {
  const part = [
    '## A heading\n\nSome words with **bold**, *italic* and `code`, and a [link](https://example.com).\n\n',
    '| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |\n\n',
    '```js\nconst value = [1, 2, 3].map((each) => each * 2) // twice\n```\n\n',
    '- one\n- two\n  - three\n\n$x^2 + y^2$\n\n',
  ].join('')
  return part.repeat(Math.ceil(ANSWER_BYTES / part.length))
}
