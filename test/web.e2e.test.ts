// The web UI in a real Chromium, against a real host.
import { join } from 'node:path'
import { HostApi } from '@mcp-host/client'
import { eventually, script } from '@mcp-host/testkit'
import axe from 'axe-core'
import type { BrowserContext } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { ChatTab } from './web-host.ts'
import { NEEDS_BROWSER, WebHost } from './web-host.ts'

const asker = {
  command: process.execPath,
  args: [join(import.meta.dirname, '..', 'packages/testkit/fixtures/asking-server.ts')],
  scope: 'session',
}
const object = { type: 'object', properties: { path: { type: 'string' } } }
const remove = script(
  { calls: [{ name: 'test__remove', arguments: { path: '/a' } }] },
  { text: 'end' },
)
/** 300 words in three seconds. */
const words = Array.from({ length: 300 }, (_, index) => `word${index}`).join(' ')
const longAnswer = script({ text: words, tokensPerSecond: 100 })

/** In the page: opens the card of a call. Resolves with its text before the browser can paint it. */
const OPEN_CARD = `(async () => {
  const card = document.querySelector('.answer .tool')
  card.querySelector('summary').click()
  await null
  return card.innerText
})()`

/** In the page: how many animations and transitions run. */
const RUNNING_ANIMATIONS =
  "document.getAnimations().filter(({ playState }) => playState === 'running').length"
/** In the page: the duration of the longest animation or transition of an element, in seconds. */
const LONGEST_MOTION = `Math.max(...Array.from(document.querySelectorAll('*')).flatMap((each) =>
  [undefined, '::before', '::after'].flatMap((part) => {
    const { animationName, animationDuration, transitionDuration } = getComputedStyle(each, part)
    const durations = animationName === 'none' ? [transitionDuration] : [animationDuration, transitionDuration]
    return durations.flatMap((list) => list.split(',').map((text) => Number.parseFloat(text)))
  })))`

describe.skipIf(NEEDS_BROWSER !== '')(`the web UI${NEEDS_BROWSER}`, () => {
  let host: WebHost
  let context: BrowserContext
  let tab: ChatTab

  beforeAll(async () => {
    host = await WebHost.start({
      env: { TOOL_APPROVAL: 'test.remove' },
      tools: [
        { name: 'look', inputSchema: object, answer: 'found it', notices: 2 },
        { name: 'remove', inputSchema: object },
        { name: 'endless', inputSchema: object, delayMs: 100_000 },
      ],
      servers: { asker },
      toolCount: 4,
    })
  })
  afterAll(() => host[Symbol.asyncDispose]())

  beforeEach(async () => {
    ;({ context, tab } = await host.visit())
  })
  afterEach(() => host.leave(context))

  /** The text of the answers in the stored history. */
  async function storedAnswers(): Promise<string> {
    const { messages } = await new HostApi({ url: host.stack.url }).messages(tab.sessionId)
    return messages.flatMap(({ role, content }) => (role === 'assistant' ? content : [])).join('\n')
  }

  /** What axe-core finds, as its rules and the elements. */
  async function accessFaults(): Promise<string[]> {
    await tab.page.evaluate(axe.source)
    const { violations } = await tab.page.evaluate<axe.AxeResults>('axe.run()')
    return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)
  }

  test.each(['light', 'dark'] as const)('pages are accessible in the %s theme', async (theme) => {
    await tab.page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' })
    await tab.page.getByText('Ask for something a tool can do.').waitFor()
    expect(await accessFaults()).toEqual([])
    const text =
      '# A\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```js\nconst a = "b" // c\n```\n\n- [x] done\n\n$x^2$'
    await tab.say(script({ reasoning: 'hm', text }))
    await tab.done()
    await tab.page.locator('.hljs-comment').waitFor()
    await tab.page.locator('math').waitFor()
    expect(await accessFaults()).toEqual([])
    await tab.say(remove)
    await tab.button('Allow').waitFor()
    expect(await accessFaults()).toEqual([])
    await tab.page.getByRole('link', { name: 'Servers', exact: true }).click()
    await tab.page.getByRole('form', { name: 'Try' }).waitFor()
    expect(await accessFaults()).toEqual([])
  })

  test('links lead to addresses at the end of the answer, and formulas have no scrollbar', async () => {
    const text =
      'Read [the guide][1].\n\n$$\\sum_{i=1}^n \\sqrt{\\frac{a_i}{b_i}}$$\n\nThen begin.\n\n[1]: https://docs.example.com/guide\n'
    await tab.say(script({ text }))
    await tab.done()
    const link = tab.page.getByRole('link', { name: 'the guide', exact: true })
    expect(await link.getAttribute('href')).toBe('https://docs.example.com/guide')
    await tab.page.locator('math').waitFor()
    const hidden = await tab.page
      .locator('.math.block')
      .evaluate((element) => element.scrollHeight - element.clientHeight)
    expect(hidden).toBe(0)
  })

  test('a first chat by keyboard: a suggestion is sent at once, and the answer is in the list', async () => {
    await tab.page.getByText('Ask for something a tool can do.').waitFor()
    // Only what the servers of the host can do is suggested.
    await expect.poll(() => tab.page.locator('.suggestions button').count()).toBe(1)
    await tab.button('What can you do?').focus()
    await tab.page.keyboard.press('Enter')
    await tab.done()
    expect(await tab.page.locator('.bubble').allInnerTexts()).toEqual(['What can you do?'])
    expect(await tab.answers()).toContain('I am the built-in demo model')
    expect(await tab.page.locator('.turn-end').innerText()).toContain(
      'built-in demo model, not a real one',
    )
    // The user writes on.
    await tab.page.locator('.composer textarea:focus').waitFor()
    await tab.say(script({ reasoning: 'let me think', text: 'Hello **world**' }))
    await tab.done(2)
    expect(await tab.answers()).toContain('Hello world')
    await tab.page.getByText('Thoughts').last().click()
    await tab.page.locator('.reasoning p').getByText('let me think', { exact: true }).waitFor()
    await tab.page.locator('.session').first().waitFor()
  })

  test('a tool call is a card with its arguments, result and time', async () => {
    const call = { name: 'test__look', arguments: { path: '/etc' } }
    await tab.say(script({ calls: [call] }, { text: 'there' }))
    await tab.done()
    const card = tab.page.locator('.answer .tool')
    expect(await card.locator('summary').innerText()).toMatch(/test look\s+Done\s+[\d.]+ m?s/)
    // The result is drawn only in an open card, before the browser paints the card.
    const copy = card.locator('[aria-label="Copy the result"]')
    expect(await copy.count()).toBe(0)
    expect(await card.textContent()).not.toContain('found it')
    expect(await tab.page.evaluate(OPEN_CARD)).toContain('found it')
    await copy.waitFor()
    expect(await card.innerText()).toMatch(/path\s+\/etc/)
    expect(await card.innerText()).toContain('found it')
  })

  test('a call waits for permission, which is given or refused in the flow', async () => {
    await tab.say(remove)
    await tab.button('Allow').click()
    await tab.done()
    await tab.page.getByText('You allowed it: test remove').waitFor()
    await tab.say(remove)
    await tab.button('Do not allow').click()
    await tab.done(2)
    expect(await tab.page.locator('.turn').last().innerText()).toContain('Not run')
    const journal = await host.stack.journal()
    expect(journal.filter(({ tool }) => tool === 'remove')).toHaveLength(1)
    await tab.page.reload()
    await tab.done(2)
    await tab.page.getByText('You allowed it: test remove').waitFor()
    await tab.page.getByText('You said no: test remove').waitFor()
  })

  test('a form of a tool is filled in; a faulty value is refused with its reason', async () => {
    const requestedSchema = {
      type: 'object',
      properties: {
        name: { type: 'string', title: 'Your name', minLength: 2 },
        age: { type: 'integer' },
        isOld: { type: 'boolean' },
        colour: { type: 'string', enum: ['red', 'blue'] },
      },
      required: ['name'],
    }
    const given = {
      method: 'elicitation/create',
      params: { message: 'Your data?', requestedSchema },
    }
    await tab.say(script({ calls: [{ name: 'asker__ask', arguments: given }] }, { text: 'end' }))
    await tab.page.getByText('Your data?', { exact: true }).waitFor()
    await tab.page.getByLabel('Your name').fill('Ann')
    await tab.page.getByRole('spinbutton').fill('7.5')
    await tab.page.getByLabel('isOld').check()
    await tab.page.getByLabel('colour').selectOption('blue')
    await tab.button('Send answer').click()
    await tab.page.getByRole('alert').filter({ hasText: 'age' }).waitFor()
    await tab.page.getByRole('spinbutton').fill('7')
    await tab.button('Send answer').click()
    await tab.done()
    await tab.page.locator('.tool > summary').click()
    await tab.button('Raw').click()
    const result = await tab.page.locator('.tool').innerText()
    expect(result).toContain('{"name":"Ann","age":7,"isOld":true,"colour":"blue"}')
  })

  test('an answer is stopped, and what waits behind it is answered', async () => {
    await tab.say(script({ text: words, tokensPerSecond: 5 }))
    await tab.answering('word2')
    await tab.say(script({ text: 'second' }))
    await tab.page.getByText('Waiting: this message is next.').waitFor()
    await tab.button('Stop').click()
    await tab.page.getByText('You stopped this answer.').waitFor()
    await tab.done(2)
    expect(await tab.answers()).toMatch(/word2[^]*\nsecond$/)
  })

  test('a tool call is stopped alone, and the answer goes on', async () => {
    const call = { name: 'test__endless', arguments: {} }
    await tab.say(script({ calls: [call] }, { text: 'without it' }))
    const card = tab.page.locator('.answer .tool')
    await card.getByRole('button', { name: 'Stop this call' }).click()
    await tab.done()
    expect(await card.locator('summary').innerText()).toMatch(/test endless\s+Stopped/)
    expect(await card.getAttribute('open')).toBeNull()
    expect(await tab.answers()).toContain('without it')
  })

  test('a page that is loaded again in mid-answer shows all of it', async () => {
    await tab.say(longAnswer)
    await tab.answering('word20')
    await tab.page.reload()
    await tab.done()
    expect(await tab.answers()).toBe(words)
    expect(await storedAnswers()).toBe(words)
  })

  test('the gateway is killed in mid-answer: the page says so, and the text equals the history', async () => {
    await tab.say(longAnswer)
    await tab.answering('word20')
    await host.stack.kill('gateway')
    await tab.page.getByText('Nothing answers at the address of the host').waitFor()
    await tab.say(script({ text: 'written meanwhile' }))
    await tab.page.getByText('Waiting for the host.').waitFor()
    await host.stack.restart('gateway')
    await tab.done(2)
    expect(await tab.answers()).toBe(`${words}\nwritten meanwhile`)
    expect(await storedAnswers()).toBe(`${words}\nwritten meanwhile`)
  })

  test('two tabs of one session show the same; the first answer to a question counts', async () => {
    await tab.say(script({ text: 'one' }))
    await tab.done()
    const other = await host.open(context, `/#/chat/${tab.sessionId}`)
    await other.done()
    await other.say(remove)
    await Promise.all([tab.button('Allow').waitFor(), other.button('Allow').waitFor()])
    const before = (await host.stack.journal()).length
    // Both are pressed in the same millisecond.
    const at = Date.now() + 500
    const press = ({ page }: ChatTab, text: string) =>
      page.evaluate(`{
        const buttons = Array.from(document.querySelectorAll('button'))
        const button = buttons.find(({ innerText }) => innerText === '${text}')
        setTimeout(() => button.click(), ${at} - Date.now())
      }`)
    await Promise.all([press(tab, 'Allow'), press(other, 'Do not allow')])
    await Promise.all([tab.done(2), other.done(2)])
    const { messages } = await new HostApi({ url: host.stack.url }).messages(tab.sessionId)
    const outcome = messages.find(({ role }) => role === 'tool')?.data?.outcome
    const isAllowed = outcome === 'ok'
    expect(['ok', 'refused']).toContain(outcome)
    expect(await host.stack.journal()).toHaveLength(isAllowed ? before + 1 : before)
    for (const each of [tab, other]) {
      expect(await each.answers()).toBe('one\nend')
      const note = each.page.locator('.turn').last().locator('.note').first()
      expect(await note.innerText()).toContain(
        isAllowed ? 'You allowed it: test remove' : 'You said no: test remove',
      )
    }
  })

  test('code and answers are copied exactly as the model wrote them', async () => {
    await context.grantPermissions(['clipboard-read', 'clipboard-write'])
    const copied = () => tab.page.evaluate<string>('navigator.clipboard.readText()')
    const code = 'if (a < b && c) {\n\tsay("*hi*")  \n\n}'
    const before = 'I **look** at <it>.'
    const after = `# Result\n\n\`\`\`js\n${code}\n\`\`\`\n\n| a | b |\n|---|---|\n| 1 | $x^2$ |`
    const calls = [{ name: 'test__look', arguments: {} }]
    await tab.say(script({ text: before, calls }, { text: after }))
    await tab.done()
    const block = tab.page.locator('figure.code')
    await block.getByRole('button', { name: 'Copy', exact: true }).click()
    await block.getByRole('button', { name: 'Copied' }).waitFor()
    expect(await copied()).toBe(code)
    await tab.button('Copy answer').click()
    await tab.page.locator('.turn-end').getByRole('button', { name: 'Copied' }).waitFor()
    expect(await copied()).toBe(`${before}\n\n${after}`)
  })

  test('a message is edited into another version, and the switcher leads back', async () => {
    await tab.say(script({ text: 'first' }))
    await tab.done()
    await tab.button('Edit').click()
    await tab.page.getByLabel('Your message').fill(script({ text: 'changed' }))
    await tab.button('Send as a new version').click()
    await tab.page.getByText('2 of 2').waitFor()
    await tab.done()
    expect(await tab.answers()).toBe('changed')
    await tab.button('Earlier version').click()
    await tab.page.getByText('1 of 2').waitFor()
    expect(await tab.answers()).toBe('first')
    await tab.button('Later version').click()
    await tab.button('Answer again').click()
    await tab.page.getByText('3 of 3').waitFor()
  })

  test('a pasted picture is shown, stored and sent', async () => {
    const png =
      'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
    const buffer = Buffer.from(png, 'base64')
    const file = { name: 'dot.png', mimeType: 'image/png', buffer }
    await tab.page.locator('input[type=file]').setInputFiles(file)
    await tab.button('Remove dot.png').waitFor()
    await eventually(async () => (await tab.page.getByText('Storing').count()) === 0)
    expect(await tab.page.locator('.composer .bad').allInnerTexts()).toEqual([])
    await tab.say(script({ text: 'seen' }))
    await tab.done()
    await tab.page.reload()
    await tab.done()
    const picture = tab.page.locator('.user img')
    expect(await picture.getAttribute('alt')).toBe('dot.png')
    const width = "document.querySelector('.user img').naturalWidth"
    await eventually(async () => (await tab.page.evaluate(width)) === 1)
  })

  test('chats are found, renamed, exported and deleted', async () => {
    await tab.say(script({ text: 'alpha' }))
    await tab.done()
    // Sessions of other tests may be newer in the list.
    const row = tab.page.locator('.session:has([aria-current])')
    await row.locator('summary').click()
    await tab.button('Rename').click()
    await tab.page.getByLabel('Title').fill('My trip')
    await tab.page.keyboard.press('Enter')
    await tab.page.getByLabel('Search chats').fill('trip')
    await tab.page.getByRole('link', { name: 'My trip', exact: true }).waitFor()
    expect(await tab.page.locator('.session').count()).toBe(1)
    await row.locator('summary').click()
    const [file] = await Promise.all([
      tab.page.waitForEvent('download'),
      tab.button('Export as Markdown').click(),
    ])
    expect(file.suggestedFilename()).toBe('My-trip.md')
    await row.locator('summary').click()
    await tab.button('Delete').click()
    await tab.button('Erase it for ever').click()
    await tab.page.getByText('No chat has this title.').waitFor()
    await tab.page.getByText('Ask for something a tool can do.').waitFor()
  })

  test('a tool is tried on the page of the servers, which has its schema', async () => {
    await tab.page.getByText('Ask for something a tool can do.').waitFor()
    await tab.page.keyboard.press('Control+k')
    await tab.page.getByRole('combobox', { name: 'Go to' }).fill('tools')
    await tab.page.keyboard.press('Enter')
    await tab.page.getByRole('link', { name: 'test', exact: false }).first().click()
    await tab.page.getByRole('link', { name: 'look', exact: true }).click()
    const tool = tab.page.getByRole('region', { name: 'look', exact: true })
    await tool.getByLabel('path').fill('/etc')
    await tool.getByRole('button', { name: 'Try it' }).click()
    await tool.getByText('found it').waitFor()
    const schema = tool.locator('details', { hasText: 'Schema' })
    expect(await schema.locator('pre').isVisible()).toBe(false)
    await schema.locator('summary').click()
    expect(JSON.parse(await schema.locator('pre').innerText())).toEqual(object)
  })

  test('on a phone the chats are behind a button, and the page does not scroll sideways', async () => {
    await tab.page.setViewportSize({ width: 360, height: 640 })
    await tab.say(
      script({ text: `a ${'long'.repeat(60)} word\n\n\`\`\`\n${'x'.repeat(300)}\n\`\`\`` }),
    )
    await tab.done()
    const width = await tab.page.evaluate('document.documentElement.scrollWidth')
    expect(width).toBeLessThanOrEqual(360)
    expect(await tab.button('New chat').isVisible()).toBe(false)
    await tab.button('Pages and lists').click()
    await tab.button('New chat').click()
    await tab.page.getByText('Ask for something a tool can do.').waitFor()
  })

  test('the page moves, unless its user prefers reduced motion', async () => {
    await tab.page.setViewportSize({ width: 360, height: 640 })
    await tab.say(script({ text: words, tokensPerSecond: 5 }))
    await tab.answering('word2')
    await tab.page.emulateMedia({ reducedMotion: 'no-preference' })
    await tab.button('Pages and lists').click()
    // The record of a chat of another test may lag.
    const row = tab.page.locator('.session:has([aria-current])')
    await row.getByText('answering', { exact: true }).waitFor()
    expect(await tab.page.evaluate(RUNNING_ANIMATIONS)).toBeGreaterThan(0)
    expect(await tab.page.evaluate(LONGEST_MOTION)).toBeGreaterThan(0.1)
    await tab.page.emulateMedia({ reducedMotion: 'reduce' })
    // A transition that runs is not ended by the change.
    await expect.poll(() => tab.page.evaluate(RUNNING_ANIMATIONS)).toBe(0)
    expect(await tab.page.evaluate(LONGEST_MOTION)).toBeLessThanOrEqual(0.001)
    await tab.button('New chat').click()
    expect(await tab.page.evaluate(RUNNING_ANIMATIONS)).toBe(0)
  })
})
