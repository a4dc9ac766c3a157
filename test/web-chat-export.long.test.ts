// Chats that leave the web UI, exported as files or read by a share link, in a real Chromium.
import { readFile } from 'node:fs/promises'
import type { Message } from '@mcp-host/client'
import { HostApi } from '@mcp-host/client'
import { eventually, script, writeLongSession } from '@mcp-host/testkit'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { ChatTab } from './web-host.ts'
import { NEEDS_BROWSER, WebHost } from './web-host.ts'

/** More than two pages of the export. */
const TURNS = 230
/** Turns of a page of a shared chat. */
const SHARED_PAGE = 40
/** In the page: the number of each turn, of its message and of its answer alike. */
const SHARED_TURNS = `Array.from(document.querySelectorAll('.turn'), (turn) => {
  const [said, answered] = Array.from(turn.textContent.matchAll(/in turn (\\d+),/g), ([, number]) => Number(number))
  return said === answered ? said : NaN
})`
const TITLE = 'Trip: Rome / Naples?'
const calls = script(
  {
    calls: [
      { name: 'test__look', arguments: { path: '/a' } },
      { name: 'test__fall', arguments: { path: '/b' } },
    ],
  },
  { text: 'the **end**' },
)

describe.skipIf(NEEDS_BROWSER !== '')(`exported chats${NEEDS_BROWSER}`, () => {
  let host: WebHost
  let api: HostApi
  let session: string
  let tab: ChatTab

  beforeAll(async () => {
    const inputSchema = { type: 'object' }
    host = await WebHost.start({
      tools: [
        { name: 'look', inputSchema, answer: 'found ```it```' },
        { name: 'fall', inputSchema, isError: true, answer: 'no such file' },
      ],
    })
    api = new HostApi({ url: host.stack.url })
    await host.stack.kill('orchestrator')
    session = await writeLongSession(host.stack.broker, { turns: TURNS })
    await host.stack.restart('orchestrator')
    const context = await host.browser.newContext()
    tab = await host.open(context, `/#/chat/${session}`)
    const buffer = Buffer.from('a note')
    await tab.page
      .locator('input[type=file]')
      .setInputFiles({ name: 'note.txt', mimeType: 'text/plain', buffer })
    await eventually(async () => (await tab.page.getByText('Storing').count()) === 0)
    await tab.say(calls)
    await tab.page.getByText('the end', { exact: true }).waitFor()
    await tab.page.locator('.turn[data-state=running]').waitFor({ state: 'detached' })
    // The record of the session is written a little after the message.
    await eventually(() => api.session(session).catch(() => undefined))
    await api.updateSession(session, { title: TITLE })
    await tab.page.reload()
  })
  afterAll(() => host[Symbol.asyncDispose]())
  beforeEach(() => {
    host.faults = []
  })
  afterEach(() => {
    expect(host.faults).toEqual([])
  })

  /** Exports the chat by its menu. */
  async function exported(as: 'Markdown' | 'JSON'): Promise<{ name: string; text: string }> {
    await tab.page.getByLabel(`More for ${TITLE}`).click()
    const [download] = await Promise.all([
      tab.page.waitForEvent('download'),
      tab.button(`Export as ${as}`).click(),
    ])
    return {
      name: download.suggestedFilename(),
      text: await readFile(await download.path(), 'utf8'),
    }
  }

  test('the JSON of a chat has all messages of all pages in order, with tool calls and files', async () => {
    const { name, text } = await exported('JSON')
    expect(name).toBe('Trip-Rome-Naples-.json')
    const { title, messages } = JSON.parse(text) as { title: string; messages: Message[] }
    expect(title).toBe(TITLE)
    const written = messages.slice(0, 2 * TURNS).map(({ role, content = '' }) => {
      const [, turn] = content.match(/in turn (\d+),/) ?? []
      return `${role} ${turn}`
    })
    const turns = Array.from({ length: TURNS }, (_, turn) => [`user ${turn}`, `assistant ${turn}`])
    expect(written).toEqual(turns.flat())
    const { messages: newest } = await api.messages(session, { limit: 1 })
    expect(messages.slice(2 * TURNS)).toEqual(newest)
    const [user] = newest
    expect(user?.metadata.attachments).toMatchObject([
      { name: 'note.txt', mimeType: 'text/plain', blob: { bytes: 6 } },
    ])
    expect(newest.filter(({ role }) => role === 'tool')).toMatchObject([
      { toolName: 'test.look', data: { arguments: { path: '/a' }, outcome: 'ok' } },
      { toolName: 'test.fall', data: { arguments: { path: '/b' }, outcome: 'error' } },
    ])
  })

  test('the Markdown of a chat has all messages of all pages in order, with tool calls and files', async () => {
    const { name, text } = await exported('Markdown')
    expect(name).toBe('Trip-Rome-Naples-.md')
    expect(text.split('\n')[0]).toBe(`# ${TITLE}`)
    const turns = Array.from(text.matchAll(/^> This is what the .* in turn (\d+),/gm), ([, turn]) =>
      Number(turn),
    )
    expect(turns).toEqual(Array.from({ length: 2 * TURNS }, (_, at) => Math.floor(at / 2)))
    const headings = Array.from(text.matchAll(/^##+ (.+)$/gm), ([, heading]) => heading)
    expect(headings.slice(2 * TURNS)).toEqual(['You', 'Tool test.look', 'Tool test.fall', 'Answer'])
    expect(text).toContain('\n\nFiles:\n\n- note.txt (text/plain, 6 bytes)\n')
    const blocks = Array.from(
      text.matchAll(/^(`{3,})json\n([^]*?)\n\1$/gm),
      ([, , json = '']): unknown => JSON.parse(json),
    )
    expect(blocks).toEqual([
      {
        arguments: { path: '/a' },
        outcome: 'Done',
        result: [expect.objectContaining({ text: 'found ```it```' })],
      },
      {
        arguments: { path: '/b' },
        outcome: 'Failed',
        result: [expect.objectContaining({ text: 'no such file' })],
      },
    ])
    expect(text.endsWith('\n\n## Answer\n\n> the **end**\n')).toBe(true)
  })

  test('a shared chat shows its newest turns, and the earlier ones page by page, none twice', async () => {
    const token = (await api.share(session)).url.split('/').at(-1)
    await using stranger = await host.browser.newContext()
    const { page } = await host.open(stranger, `/#/shared/${token}`)
    const earlier = page.getByRole('button', { name: 'Show earlier messages' })
    const turns = page.locator('.turn')
    const numbers = (): Promise<number[]> => page.evaluate(SHARED_TURNS)
    const last = (count: number): number[] =>
      Array.from({ length: count }, (_, at) => TURNS - count + at)
    await page.getByText('the end', { exact: true }).waitFor()
    for (let count = SHARED_PAGE; count < TURNS; count += SHARED_PAGE) {
      await expect.poll(() => turns.count()).toBe(count)
      // The last turn has no number.
      expect((await numbers()).slice(0, -1)).toEqual(last(count - 1))
      await earlier.click()
    }
    await earlier.waitFor({ state: 'detached' })
    expect((await numbers()).slice(0, -1)).toEqual(last(TURNS))
    expect(await turns.last().innerText()).toContain('the end')
    expect(await turns.first().innerText()).toContain('the model answers in turn 0,')
  })
})
