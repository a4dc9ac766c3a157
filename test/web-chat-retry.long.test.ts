// Answers whose model or worker breaks off, in the web UI in a real Chromium.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { LLMock } from '@copilotkit/aimock'
import { testFolder } from '@mcp-host/testkit'
import type { BrowserContext } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { ChatTab } from './web-host.ts'
import { NEEDS_BROWSER, WebHost } from './web-host.ts'

/** The words of the whole answer. */
const WORDS = Array.from({ length: 120 }, (_, index) => `word${index}`)
const WHOLE = WORDS.join(' ')
/** One piece every 40 ms. */
const PACE = { latency: 40, chunkSize: 12 }
const call = { name: 'test__look', arguments: '{}' }

describe.skipIf(NEEDS_BROWSER !== '')(`answers that are written anew${NEEDS_BROWSER}`, () => {
  const open = new AsyncDisposableStack()
  let host: WebHost
  let context: BrowserContext
  let tab: ChatTab

  beforeAll(async () => {
    const folder = open.use(await testFolder())
    const model = open.adopt(new LLMock({ port: 0 }), (each) => each.stop())
    const first = { userMessage: 'breaks once', sequenceIndex: 0 }
    model.on(first, { content: WHOLE }, { ...PACE, truncateAfterChunks: 20 })
    model.on({ userMessage: 'breaks once' }, { content: WHOLE }, PACE)
    const used = { userMessage: 'after a tool', hasToolResult: true }
    model.on(
      { ...used, sequenceIndex: 0 },
      { content: WHOLE },
      { ...PACE, truncateAfterChunks: 20 },
    )
    model.on(used, { content: WHOLE }, PACE)
    const before = { content: 'I look first.', toolCalls: [call] }
    model.on({ userMessage: 'after a tool', hasToolResult: false }, before, PACE)
    model.on({ userMessage: /./ }, { content: WHOLE }, PACE)
    await model.start()
    const providers = {
      work: { type: 'openai-compatible', baseUrl: `${model.url}/v1`, model: 'qwen3-32b' },
    }
    const config = join(folder.path, 'llm.json')
    await writeFile(config, JSON.stringify({ default: 'work/qwen3-32b', providers }))
    host = open.use(
      await WebHost.start({
        env: { LLM_CONFIG: config, LLM_RETRY_MS: '50' },
        tools: [{ name: 'look', inputSchema: { type: 'object' }, answer: 'found it' }],
      }),
    )
  })
  afterAll(() => open.disposeAsync())

  beforeEach(async () => {
    ;({ context, tab } = await host.visit())
  })
  afterEach(() => host.leave(context))

  /** The answer must have each text once: while it is written, at its end, and after a reload. */
  async function expectOnce(note: RegExp, ...expected: readonly string[]): Promise<void> {
    const shownNote = tab.page.getByText(note)
    await shownNote.waitFor()
    const partial = await tab.answers()
    expect(partial.split('word0 ').length).toBeLessThanOrEqual(2)
    await tab.done()
    expect(await shownNote.count()).toBe(1)
    expect(await tab.answers()).toBe(expected.join('\n'))
    await tab.page.reload()
    await tab.done()
    expect(await tab.answers()).toBe(expected.join('\n'))
  }

  test('the retry of a broken stream of the model leaves a note, and its own text alone', async () => {
    await tab.say('A stream that breaks once')
    await tab.answering('word5')
    await expectOnce(/^The model did not answer \(.*\); trying again$/, WHOLE)
  })

  test('the text before a tool call stays when the stream breaks after it', async () => {
    await tab.say('Break after a tool')
    await tab.answering('word5')
    await expectOnce(/^The model did not answer \(.*\); trying again$/, 'I look first.', WHOLE)
    expect(await tab.page.locator('.turn').innerText()).toMatch(/test look\s+Done/)
  })

  test('the answer of a killed worker is written anew by another one', async () => {
    await tab.say('A worker that is killed')
    await tab.answering('word5')
    await host.stack.kill('llm-worker')
    await host.stack.restart('llm-worker')
    await expectOnce(/interrupted|lost|did not answer/, WHOLE)
  })
})
