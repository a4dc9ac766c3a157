// Pictures of a conversation in the web UI, in all of its states: docs/guides/web-ui-states.md.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { HostApi } from '@mcp-host/client'
import type { ToolScript } from '@mcp-host/testkit'
import { testFolder, toolServer } from '@mcp-host/testkit'
import type { BrowserContext, Locator } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { ChatTab } from './web-host.ts'
import { NEEDS_BROWSER } from './web-host.ts'
import { Pictures } from './web-pictures.ts'
import type { PreparedAnswer, PreparedCall } from './web-prepared.ts'
import { FILES, PreparedHost, SERVERS } from './web-prepared.ts'

const PLANS = `The plans cost the same at 40 GB a month; below that, **Small** is cheaper.

| Plan  | Base | For each GB |
| ----- | ---: | ----------: |
| Small |  5 € |      0.30 € |
| Large | 15 € |      0.05 € |

$$\\frac{15 - 5}{0.30 - 0.05} = 40$$

\`\`\`js
// The price of a month, in euros.
const price = (base, perGb) => (gb) => base + perGb * gb
\`\`\`

- [x] prices of your file
- [ ] taxes

> The file is of November: ask before you sign.`

const TIDES = `The Moon pulls at the near side of the Earth more than at its centre, and at the centre more than at the far side. `
const form = {
  type: 'object',
  properties: {
    name: { type: 'string', title: 'Name of the traveller', minLength: 2 },
    class: { type: 'string', title: 'Class', enum: ['second', 'first'] },
    bags: { type: 'integer', title: 'Bags', description: 'At most 3', maximum: 3 },
    window: { type: 'boolean', title: 'A seat at a window' },
  },
  required: ['name', 'class'],
}
const ask = (params: object): PreparedCall => ({
  name: 'travel__ask',
  arguments: { method: 'elicitation/create', params },
})
const read = (name: string): PreparedCall => ({
  name: 'filesystem__read_text_file',
  arguments: { path: `${FILES}/${name}` },
})
const write: PreparedCall = {
  name: 'filesystem__write_file',
  arguments: { path: `${FILES}/note.txt`, content: 'Buy milk' },
}
/** A tool that may not run twice. */
const TRANSFER: ToolScript = {
  name: 'transfer',
  inputSchema: { type: 'object' },
  notices: 1,
  delayMs: 60_000,
}
const operation = (duration: number, steps: number): PreparedCall => ({
  name: 'everything__trigger-long-running-operation',
  arguments: { duration, steps },
})

const WINDOW = { width: 1_080, height: 1_100 }
const ANSWERS: readonly PreparedAnswer[] = [
  { to: 'Which plan', reasoning: 'The break-even point is where both cost the same.', text: PLANS },
  {
    to: 'Why are there two tides',
    reasoning: 'Near side, far side.',
    text: TIDES.repeat(9),
    pieceMs: 60,
  },
  {
    to: 'Is 7 prime',
    reasoning: 'Try 2 and 3: neither divides 7. So it has no divisor but 1 and itself.',
    text: 'Yes.',
  },
  { to: 'What is in welcome.txt', call: read('welcome.txt'), text: 'It greets you.' },
  { to: 'What is in missing.txt', call: read('missing.txt'), text: 'There is no such file.' },
  { to: 'Show the measurements', call: read('measurements.csv'), text: 'These are 1,500 lines.' },
  {
    to: 'Show the chart',
    call: { name: 'filesystem__read_media_file', arguments: { path: `${FILES}/chart.png` } },
    text: 'Sales grew in each quarter.',
  },
  { to: 'Count slowly', call: operation(30, 60), text: 'Done.' },
  {
    to: 'Pay the rent',
    call: { name: 'bank__transfer', arguments: { euros: 900 } },
    text: 'Look at your account first.',
  },
  { to: 'Note that I need milk', call: write, text: 'I have noted it.' },
  { to: 'Do not note', call: write, text: 'I have noted nothing.' },
  {
    to: 'Book a train',
    call: ask({ message: 'Who travels, and how?', requestedSchema: form }),
    text: 'It is booked.',
  },
  {
    to: 'Connect my account',
    call: ask({
      mode: 'url',
      elicitationId: 'e1',
      message: 'Log in at the railway, so that I see your tickets.',
      url: 'https://accounts.railway.example/connect?state=7f3a',
    }),
    text: 'All right.',
  },
  { to: 'Who is on duty', status: 503, text: 'The second model is.', pieceMs: 60 },
  { to: 'Refuse', status: 400 },
  { to: 'Say hello in French', text: 'Bonjour !' },
  { to: 'Say hello in Italian', text: 'Ciao!' },
]

describe.skipIf(NEEDS_BROWSER !== '')(`pictures of a conversation${NEEDS_BROWSER}`, () => {
  let prepared: PreparedHost
  const open = new AsyncDisposableStack()
  let context: BrowserContext
  let tab: ChatTab
  let pictures: Pictures

  beforeAll(async () => {
    const lines = Array.from({ length: 1_500 }, (_, index) => `${index},${(index * 37) % 101}`)
    const folder = open.use(await testFolder())
    const bank = toolServer([TRANSFER], join(folder.path, 'journal.jsonl'))
    prepared = open.use(
      await PreparedHost.start({
        answers: ANSWERS,
        servers: { ...SERVERS, bank },
        env: { TOOL_APPROVAL: 'filesystem.write_file' },
      }),
    )
    await writeFile(join(FILES, 'measurements.csv'), ['time,value', ...lines].join('\n'))
    context = await prepared.host.browser.newContext({
      viewport: WINDOW,
      reducedMotion: 'reduce',
    })
    tab = await prepared.host.open(context)
    pictures = new Pictures(tab.page)
  })
  afterAll(() => open.disposeAsync())

  beforeEach(async () => {
    await tab.page.setViewportSize(WINDOW)
    await tab.button('New chat').click()
    await tab.page.getByText('Ask for something a tool can do.').waitFor()
  })
  afterEach(() => expect(prepared.host.faults).toEqual([]))

  const turn = (): Locator => tab.page.locator('.turn').last()
  const card = (): Locator => turn().locator('.tool')
  /** The row of calls with what is open below it. */
  const calls = (): Locator => turn().locator('.calls')

  async function say(text: string): Promise<void> {
    await tab.say(text)
    await tab.page.locator('.turn[data-state=done]', { hasText: text }).waitFor()
  }

  async function openCard(): Promise<void> {
    await card().locator('summary').first().click()
  }

  test('answers', async () => {
    await say('Which plan is cheaper for me?')
    await tab.page.locator('.hljs-comment').waitFor()
    await tab.page.locator('math').waitFor()
    await pictures.takeBoth('answer', turn())
  })

  test('an answer that is being written, and one that was stopped', async () => {
    await tab.page.setViewportSize({ width: 1_080, height: 520 })
    await tab.say('Why are there two tides a day?')
    await tab.answering('its centre')
    await pictures.take('answer-streaming', turn(), tab.page.locator('.composer'))
    await tab.button('Stop').click()
    await turn().getByText('You stopped this answer.').waitFor()
    await pictures.take('answer-stopped', turn())
  })

  test('thoughts', async () => {
    await say('Is 7 prime?')
    await pictures.take('thought-folded', turn())
    await turn().getByText('Thoughts').click()
    await pictures.take('thought-open', turn())
  })

  test('tool calls', async () => {
    await say('What is in welcome.txt?')
    await pictures.take('tool-done', turn())
    await openCard()
    await pictures.takeBoth('tool-open', calls())
    await say('What is in missing.txt?')
    await openCard()
    await pictures.take('tool-failed', calls())
    await say('Show the measurements')
    await openCard()
    await card().getByText('Show more').waitFor()
    await pictures.take('tool-large', calls())
  })

  test('a picture of a tool', async () => {
    const bars = [40, 65, 80, 120].map((height) => `<i style="height:${height}px"></i>`).join('')
    const drawing = await context.newPage()
    await drawing.setViewportSize({ width: 320, height: 160 })
    await drawing.setContent(
      `<style>body{margin:0;height:160px;display:flex;align-items:end;justify-content:space-evenly;background:#fff}i{width:40px;background:#4f46c8}</style>${bars}`,
    )
    await drawing.screenshot({ path: join(FILES, 'chart.png') })
    await drawing.close()
    await say('Show the chart')
    await openCard()
    await card().locator('img').waitFor()
    await card().getByText('Structured result').waitFor()
    await pictures.take('tool-image', calls())
  })

  test('a tool call that runs', async () => {
    await tab.say('Count slowly')
    await card().locator('progress').waitFor()
    await pictures.take('tool-running', calls())
    await tab.button('Stop').click()
    await turn().getByText('You stopped this answer.').waitFor()
    await pictures.take('tool-stopped', calls())
  })

  test('permissions', async () => {
    await tab.say('Note that I need milk')
    await tab.button('Allow').waitFor()
    await pictures.takeBoth('approval-asked', calls(), turn().locator('.asks'))
    await tab.button('Allow').click()
    await tab.done()
    await pictures.take('approval-given', turn())
    await tab.say('Do not note it')
    await tab.button('Do not allow').click()
    await tab.done(2)
    await pictures.take('approval-refused', turn())
  })

  test('questions of servers', async () => {
    await tab.say('Book a train to Rome')
    await tab.page.getByLabel('Name of the traveller').fill('Ann')
    await pictures.takeBoth('question-form', turn().locator('.asks'))
    await tab.page.getByLabel('Class').selectOption('second')
    await tab.page.getByLabel('Bags').fill('1.5')
    await tab.button('Send answer').click()
    await turn().getByRole('alert').waitFor()
    await pictures.take('question-fault', turn().locator('.asks'))
    await tab.page.getByLabel('Bags').fill('1')
    await tab.button('Send answer').click()
    await tab.done()
    await tab.say('Connect my account')
    await tab.button('I have done it').waitFor()
    await pictures.take('question-page', turn().locator('.asks'))
    await tab.button('Decline').click()
    await tab.done(2)
    await pictures.take('question-declined', turn())
  })

  test('notes of the host, and answers that fail', async () => {
    await say('Who is on duty?')
    await turn().getByText('answers instead').first().waitFor()
    await pictures.take('note-model-switched', turn())
    await say('Refuse this')
    await pictures.take('answer-failed', turn())
  })

  test('a shortened conversation', async () => {
    const api = new HostApi({ url: prepared.host.stack.url })
    const id = await api.createSession({ model: 'work/qwen3-8b', servers: [] })
    await tab.page.goto(`${prepared.host.url}/#/chat/${id}`)
    const note = tab.page.locator('.answer > .note', { hasText: 'what was said earlier is' })
    for (let count = 1; count < 12 && (await note.count()) === 0; count++) {
      await say(`Remember part ${count} of the story. ${'It is a long one. '.repeat(30)}`)
    }
    await note.first().waitFor()
    await pictures.take('note-shortened', turn())
  })

  test('messages that wait', async () => {
    await tab.say('Why are there two tides a day?')
    await tab.answering('its centre')
    await tab.say('Say hello in French')
    await tab.say('Say hello in Italian')
    await tab.page.getByText('number 2 in the queue').waitFor()
    await tab.page.setViewportSize({ width: 1_080, height: 620 })
    await pictures.take('queue', tab.page.locator('.turn').nth(1), turn())
    await turn().getByRole('button', { name: 'Take it back' }).click()
    await turn().getByText('You took this message back').waitFor()
    await pictures.take('message-taken-back', turn())
  })

  test('versions', async () => {
    await say('Say hello in French')
    await tab.button('Edit').click()
    await tab.page.getByLabel('Your message').fill('Say hello in Italian')
    await pictures.take('message-editor', turn())
    await tab.button('Send as a new version').click()
    await tab.page.getByText('2 of 2').waitFor()
    await tab.done()
    await pictures.take('message-versions', turn())
  })

  test('a tool call whose end nobody saw', async () => {
    await tab.say('Pay the rent')
    await card().locator('progress').waitFor()
    await prepared.host.stack.kill('mcp-supervisor')
    await prepared.host.stack.restart('mcp-supervisor')
    await card().getByText('Outcome unknown').waitFor()
    await tab.done()
    await pictures.take('tool-unknown', turn())
  })
})
