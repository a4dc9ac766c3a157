// The web UI while processes die, the network is gone, and the page sleeps: what it shows equals the history.
import { setTimeout as delay } from 'node:timers/promises'
import { HostApi } from '@mcp-host/client'
import { eventually, script } from '@mcp-host/testkit'
import type { BrowserContext } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { freeze } from './browser.ts'
import type { ChatTab } from './web-host.ts'
import { NEEDS_BROWSER, WebHost } from './web-host.ts'

/** How long a page sleeps and a network is gone. `OUTAGE_MS=60000` tests the time of a closed laptop. */
const OUTAGE_MS = Number(process.env['OUTAGE_MS'] ?? 8_000)

/** The time after which a gateway refuses what it cannot store. */
const STORE_PATIENCE_MS = 10_000

const words = Array.from({ length: 600 }, (_, index) => `word${index}`).join(' ')
/** Takes six seconds, and then calls a tool. */
const longTurn = script(
  { text: words, tokensPerSecond: 100, calls: [{ name: 'test__echo', arguments: {} }] },
  { text: 'the end' },
)

/** What a call is called in the page, by its outcome. */
const OUTCOMES = {
  ok: 'Done',
  error: 'Failed',
  refused: 'Not run',
  cancelled: 'Stopped',
  unknown: 'Outcome unknown',
  none: 'Running',
} as const
/** In the page: the states of its turns. */
const SHOWN_STATES =
  "Array.from(document.querySelectorAll('.turn'), ({ dataset }) => dataset.state)"
const SHOWN_CALL = new RegExp(`\\b(?:echo|wait)\\s+(${Object.values(OUTCOMES).join('|')})`, 'g')

/** In the page: notes the longest time in which it did nothing, in ms. */
const WATCH_STILL = `{
  globalThis.stillMs = 0
  let at = Date.now()
  setInterval(() => {
    const now = Date.now()
    stillMs = Math.max(stillMs, now - at)
    at = now
  }, 50)
}`

interface Conversation {
  readonly texts: readonly string[]
  readonly turns: readonly string[]
  readonly calls: readonly string[]
}

describe.skipIf(NEEDS_BROWSER !== '')(`outages beside the web UI${NEEDS_BROWSER}`, () => {
  let host: WebHost
  let context: BrowserContext
  let tab: ChatTab

  beforeAll(async () => {
    const inputSchema = { type: 'object' }
    host = await WebHost.start({
      tools: [
        { name: 'echo', inputSchema },
        { name: 'wait', inputSchema, delayMs: 100_000 },
      ],
    })
  })
  afterAll(() => host[Symbol.asyncDispose]())

  beforeEach(async () => {
    ;({ context, tab } = await host.visit())
  })
  afterEach(() => host.leave(context))

  /** Messages, answers, states of turns and outcomes of calls in the stored history, in order. */
  async function stored(): Promise<Conversation> {
    const { messages } = await new HostApi({ url: host.stack.url }).messages(tab.sessionId)
    return {
      texts: messages.flatMap(({ role, content = '' }) => (role === 'tool' ? [] : [content])),
      turns: messages.flatMap(({ role, metadata }) =>
        role === 'user' ? [metadata.state ?? 'done'] : [],
      ),
      calls: messages.flatMap(({ role, data }) =>
        role === 'tool' ? [OUTCOMES[data?.outcome ?? 'none']] : [],
      ),
    }
  }

  /** The same in the page. */
  async function shown(): Promise<Conversation> {
    const turns = tab.page.locator('.turn')
    const texts = (await turns.allInnerTexts()).join('\n')
    return {
      texts: await tab.page.locator('.bubble, .answer .markdown').allInnerTexts(),
      turns: await tab.page.evaluate(SHOWN_STATES),
      calls: Array.from(texts.matchAll(SHOWN_CALL), ([, outcome = '']) => outcome),
    }
  }

  async function expectHistory(...expected: readonly string[]): Promise<void> {
    await eventually(async () => {
      const { texts, turns } = await stored()
      return texts.length === expected.length && turns.every((state) => state === 'done')
    })
    const history = await stored()
    expect(history.texts).toEqual(expected)
    // A call that a killed service had may have any outcome, but it has one.
    expect(history.calls).toHaveLength(expected.filter((text) => text.includes('"calls"')).length)
    expect(history.calls).not.toContain(OUTCOMES.none)
    await expect.poll(shown).toEqual(history)
  }

  test.each(['gateway', 'llm-worker', 'orchestrator', 'mcp-supervisor'] as const)(
    'the %s is killed in mid-answer',
    async (name) => {
      await tab.say(longTurn)
      await tab.answering('word20')
      await host.stack.kill(name)
      expect(await tab.page.locator('.turn[data-state=running]').count()).toBe(1)
      await host.stack.restart(name)
      await tab.done()
      await expectHistory(longTurn, words, 'the end')
    },
  )

  /** How often the tool that waits was called. */
  const waits = async (): Promise<number> =>
    (await host.stack.journal()).filter(({ tool }) => tool === 'wait').length

  test('the supervisor is killed during a tool call, whose outcome nobody knows then', async () => {
    const message = script(
      { text: 'before', calls: [{ name: 'test__wait', arguments: {} }] },
      { text: 'the end' },
    )
    await tab.say(message)
    await tab.page.locator('.tool .state', { hasText: OUTCOMES.none }).waitFor()
    await expect.poll(waits).toBe(1)
    await host.stack.kill('mcp-supervisor')
    await host.stack.restart('mcp-supervisor')
    await tab.done()
    await expectHistory(message, 'before', 'the end')
    await tab.page.reload()
    await tab.done()
    await expectHistory(message, 'before', 'the end')
    expect((await shown()).calls).toEqual([OUTCOMES.unknown])
    expect(await waits()).toBe(1)
  })

  test('without an orchestrator, another answer is asked for, stored, and given later', async () => {
    const message = script({ text: 'first' })
    await tab.say(message)
    await tab.done()
    await host.stack.kill('orchestrator')
    await tab.button('Answer again').click()
    // The outbox of the page keeps what the host has not stored.
    const unsent = "Object.keys(localStorage).filter((key) => key.startsWith('outbox')).length"
    await tab.page.getByText('Waiting: this message is next.').waitFor()
    await expect.poll(() => tab.page.evaluate(unsent), { timeout: 20_000 }).toBe(0)
    await host.stack.restart('orchestrator')
    await tab.page.getByText('2 of 2').waitFor()
    await tab.done()
    await expectHistory(message, 'first')
  })

  test('a message that the host could not store for a while is sent again, and answered once', async () => {
    const first = script({ text: 'before' })
    await tab.say(first)
    await tab.done()
    await host.stack.broker.kill()
    const second = script({ text: 'after' })
    await tab.say(second)
    await delay(STORE_PATIENCE_MS + 2_000)
    // The host has refused it once by now, and the page has not given it up.
    expect(await tab.page.locator('.turn[data-state=refused]').count()).toBe(0)
    await host.stack.broker.start()
    await tab.done(2)
    await expectHistory(first, 'before', second, 'after')
  })

  test.each([{ gateway: 'the same' }, { gateway: 'another' }])(
    'a laptop sleeps in mid-answer, and finds $gateway gateway when it wakes',
    async ({ gateway }) => {
      await tab.page.evaluate(WATCH_STILL)
      await tab.say(longTurn)
      await tab.answering('word20')
      {
        using _asleep = await freeze(host.browser)
        if (gateway === 'another') {
          await host.stack.kill('gateway')
          await host.stack.restart('gateway')
        }
        await delay(OUTAGE_MS)
      }
      await tab.done()
      expect(await tab.page.evaluate('stillMs')).toBeGreaterThan(OUTAGE_MS)
      await expectHistory(longTurn, words, 'the end')
    },
  )

  test('what a closed page could not send is sent by the next one, in whatever chat it shows', async () => {
    await tab.page.routeWebSocket(/\/ws/, () => undefined)
    await tab.page.reload()
    await tab.say(script({ text: 'sent later' }))
    await tab.page.getByText('Waiting for the host.').waitFor()
    const { sessionId } = tab
    await tab.page.close()
    tab = await host.open(context)
    expect(tab.sessionId).toBe('')
    const api = new HostApi({ url: host.stack.url })
    await eventually(async () => {
      const { messages } = await api.messages(sessionId).catch(() => ({ messages: [] }))
      return messages.at(-1)?.content === 'sent later'
    })
  })

  test('the network is gone while a message is written and sent', async () => {
    await tab.say(longTurn)
    await tab.answering('word20')
    await context.setOffline(true)
    const next = script({ text: 'second' })
    await tab.say(next)
    await tab.page.getByText('Waiting for the host.').waitFor({ timeout: 60_000 })
    await delay(OUTAGE_MS)
    expect(await tab.answers()).not.toContain('second')
    await context.setOffline(false)
    await tab.done(2)
    await expectHistory(longTurn, words, 'the end', next, 'second')
  })
})
