// Contents of models, tools, users and files that want to be more than text.
import { join } from 'node:path'
import { HostApi } from '@mcp-host/client'
import { eventually, script } from '@mcp-host/testkit'
import type { BrowserContext } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ChatTab } from './web-host.ts'
import { NEEDS_BROWSER, WebHost } from './web-host.ts'

const RUN = 'window.hacked=1'
const FOREIGN = 'http://127.0.0.2:9/x'

/** Answers of a model. */
const ANSWERS = [
  `<script>${RUN}</script>`,
  `<img src=x onerror="${RUN}">`,
  `<svg onload="${RUN}"></svg>`,
  `<svg><script>${RUN}</script></svg>`,
  `<iframe src="javascript:parent.${RUN}"></iframe>`,
  `<iframe srcdoc="<script>parent.${RUN}</script>"></iframe>`,
  `<object data="${FOREIGN}"></object>`,
  `<embed src="${FOREIGN}">`,
  `<link rel="stylesheet" href="${FOREIGN}">`,
  `<style>@import "${FOREIGN}";</style>`,
  `<meta http-equiv="refresh" content="0;url=${FOREIGN}">`,
  `<base href="${FOREIGN}">`,
  `<form action="${FOREIGN}"><input name="a" autofocus onfocus="${RUN}"></form>`,
  `<details open ontoggle="${RUN}">x</details>`,
  `<video><source onerror="${RUN}"></video>`,
  `<math><mtext><img src=x onerror="${RUN}"></mtext></math>`,
  `<a href="javascript:${RUN}">x</a>`,
  `<body onload="${RUN}">`,
  `<div style="background:url(${FOREIGN})">x</div>`,
  `<template><script>${RUN}</script></template>`,
  `[x](javascript:${RUN})`,
  `[x](JaVaScRiPt:${RUN})`,
  `[x](java&#115;cript:${RUN})`,
  `[x](data:text/html,<script>${RUN}</script>)`,
  `[x](vbscript:${RUN})`,
  `[x](/logout)`,
  `[x](//127.0.0.2:9/)`,
  `[x]: javascript:${RUN}\n\n[x]`,
  `<javascript:${RUN}>`,
  `![x](${FOREIGN}.png)`,
  `![x](javascript:${RUN})`,
  `![x](/logout)`,
  `![x](data:image/svg+xml;base64,PHN2ZyBvbmxvYWQ9YWxlcnQoMSk+)`,
  `![x" onerror="${RUN}](${FOREIGN})`,
  `\`\`\`"><script>${RUN}</script>\ncode\n\`\`\``,
  `\`\`\`html\n<script>${RUN}</script>\n\`\`\``,
  `\`\`\`__proto__\ncode\n\`\`\``,
  `\`<img src=x onerror="${RUN}">\``,
  `$\\href{javascript:${RUN}}{x}$`,
  `$\\includegraphics{${FOREIGN}.png}$`,
  `$\\style{background:url(${FOREIGN})}{x}$`,
  `$$\\def\\a{\\a\\a}\\a$$`,
  `| <img src=x onerror="${RUN}"> |\n|---|\n| <script>${RUN}</script> |`,
  `# <img src=x onerror="${RUN}">`,
  `- <img src=x onerror="${RUN}">`,
  `> <script>${RUN}</script>`,
  `**<img src=x onerror="${RUN}">**`,
  `&lt;script&gt;${RUN}&lt;/script&gt;`,
  `${'>'.repeat(3_000)} deep`,
  `${'[a]('.repeat(2_000)}x`,
  `\u202Egnp.exe`,
  `{{constructor.constructor('${RUN}')()}}`,
]

/** Arguments and results of tools: the tool answers with its arguments. */
const TOOL_TEXTS = [
  `<img src=x onerror="${RUN}">`,
  `<script>${RUN}</script>`,
  `[x](javascript:${RUN})`,
  `</pre><svg onload="${RUN}">`,
]

/** Names of tools that a model makes up. */
const TOOL_NAMES = [`<img src=x onerror="${RUN}">`, '__proto__', 'constructor']

const FILE_NAMES = [
  `<img src=x onerror=${RUN}>.txt`,
  `"><script>${RUN}.html`,
  'javascript:alert(1)',
]

const MARKUP = `<img src=x onerror="${RUN}">`
const SVG = `<svg xmlns="http://www.w3.org/2000/svg" onload="${RUN}"><script>${RUN}</script></svg>`
const SVG_DATA = Buffer.from(SVG).toString('base64')

/** Titles of chats. */
const TITLES = [MARKUP, `</span><script>${RUN}</script>`, '__proto__']

/** Parts of the result of a tool, each with a text that the page must show. */
const BLOCKS: readonly (readonly [object, string])[] = [
  [{ type: 'image', mimeType: 'image/svg+xml', data: SVG_DATA }, 'image/svg+xml'],
  [{ type: 'image', mimeType: `image/png" onerror="${RUN}`, data: SVG_DATA }, 'onerror'],
  [{ type: 'image', mimeType: 'image/png', data: `x" onerror="${RUN}` }, 'onerror'],
  [{ type: 'resource_link', uri: `javascript:${RUN}`, name: 'link to a script' }, 'to a script'],
  [{ type: 'resource_link', uri: `JaVaScRiPt:${RUN}`, name: 'link in capitals' }, 'in capitals'],
  [{ type: 'resource_link', uri: 'data:text/html,x', name: 'link to data' }, 'link to data'],
  [{ type: 'resource_link', uri: 'note://x', name: `${MARKUP} link` }, '> link'],
  [
    { type: 'resource', resource: { uri: 'note://x', mimeType: 'text/html', text: MARKUP } },
    '<img',
  ],
  [{ type: 'text', text: MARKUP }, MARKUP],
]

/** A server whose lists and results are hostile. */
const HOSTILE_SERVER = {
  command: process.execPath,
  args: [
    join(import.meta.dirname, '..', 'packages/testkit/fixtures/fixed-server.ts'),
    JSON.stringify({
      'tools/list': {
        tools: [
          {
            name: 'blocks',
            title: MARKUP,
            description: `${MARKUP} of a tool`,
            inputSchema: {
              type: 'object',
              properties: { path: { type: 'string', title: MARKUP, description: MARKUP } },
            },
          },
        ],
      },
      'tools/call': { content: BLOCKS.map(([block]) => block) },
      'prompts/list': {
        prompts: [
          {
            name: 'greet',
            title: `${MARKUP} title`,
            description: `${MARKUP} of a prompt`,
            arguments: [{ name: MARKUP, description: `${MARKUP} of an argument` }],
          },
        ],
      },
      'prompts/get': { messages: [{ role: 'user', content: { type: 'text', text: MARKUP } }] },
      'resources/list': {
        resources: [
          { uri: `javascript:${RUN}`, name: `${MARKUP} of a resource` },
          { uri: 'note://x', name: 'titled', title: `${MARKUP} of another resource` },
        ],
      },
    }),
  ],
}
/** A server that asks the user what its caller says. */
const ASKING_SERVER = {
  command: process.execPath,
  args: [join(import.meta.dirname, '..', 'packages/testkit/fixtures/asking-server.ts')],
  scope: 'session',
}
/** A question of a server. */
const FORM = {
  message: `${MARKUP} of a form`,
  requestedSchema: {
    type: 'object',
    properties: {
      [MARKUP]: { type: 'string', title: `${MARKUP} of a field`, description: MARKUP },
      choice: { type: 'string', enum: [`${MARKUP} of a choice`, '__proto__'] },
    },
    required: [MARKUP],
  },
}
/** Addresses that a server wants the user to visit. */
const ADDRESSES = [`javascript:${RUN}`, 'data:text/html,x', 'file:///etc/passwd']

/** A server that fails with markup in its output. */
const FAILING_SERVER = {
  command: process.execPath,
  args: ['-e', `console.error(${JSON.stringify(MARKUP)}); process.exitCode = 1`],
}

/** What scripts of uploaded files try: each would be visible to the app. */
const SCRIPT_ATTEMPTS = [
  `localStorage.setItem('hacked', '1')`,
  `document.cookie = 'hacked=1; path=/'`,
  `window.name = 'hacked'`,
  `opener.hacked = 1`,
]
/** Uploaded files that are pages, by their types. */
const DOCUMENTS: readonly (readonly [string, (code: string) => string])[] = [
  ['text/html', (code) => `<p>shown</p><script>${code}</script>`],
  [
    'application/xhtml+xml',
    (code) =>
      `<html xmlns="http://www.w3.org/1999/xhtml"><body>shown<script>${code}</script></body></html>`,
  ],
  [
    'image/svg+xml',
    (code) =>
      `<svg xmlns="http://www.w3.org/2000/svg"><text y="20">shown</text><script>${code}</script></svg>`,
  ],
]

/** Elements that no content may have. */
const FORBIDDEN =
  'script, iframe, object, embed, link, style, meta, base, svg, video, audio, form[action], [style*=url], [onerror], [onload], [onfocus], [ontoggle], [href^="javascript" i], [href^="data"]:not([href^="data:application/octet-stream;"][download]), [href^="/"], [src^="http"], [src^="/logout"]'

describe.skipIf(NEEDS_BROWSER !== '')(`hostile contents in the web UI${NEEDS_BROWSER}`, () => {
  let host: WebHost
  let context: BrowserContext
  let tab: ChatTab

  beforeAll(async () => {
    host = await WebHost.start({
      tools: [{ name: 'echo', inputSchema: { type: 'object' } }],
      servers: {
        hostile: HOSTILE_SERVER,
        [MARKUP]: HOSTILE_SERVER,
        asker: ASKING_SERVER,
        broken: FAILING_SERVER,
      },
      toolCount: 4,
      env: { MAX_TOOL_CALLS: String(ANSWERS.length) },
    })
    context = await host.browser.newContext()
  })
  afterAll(() => host[Symbol.asyncDispose]())

  /** Fails if the page has more than text, or if something ran or was asked for. */
  async function expectHarmless(): Promise<void> {
    const found = `Array.from(document.querySelectorAll('body :is(${FORBIDDEN})'), (each) => each.outerHTML)`
    expect(await tab.page.evaluate(found)).toEqual([])
    expect(await tab.page.evaluate('window.hacked')).toBeUndefined()
    expect(host.faults).toEqual([])
  }

  test('answers with markup and links are shown and do nothing', async () => {
    tab = await host.open(context)
    // Each answer is a block of its own: a call comes between.
    const calls = [{ name: 'test__echo', arguments: {} }]
    const answers = ANSWERS.map((answer) => ({ text: `${answer}\n\nthe end`, calls }))
    await tab.say(script(...answers, { text: 'the last' }))
    await tab.done()
    await expectHarmless()
    const shown = await tab.page.locator('.markdown').allInnerTexts()
    expect(shown).toHaveLength(ANSWERS.length + 1)
    expect(shown.filter((text) => text.trim() === '')).toEqual([])
  })

  test('code whose colours would take minutes is shown without them, and stops nothing', async () => {
    await tab.button('New chat').click()
    const slow = 'a'.repeat(49_000)
    const say = (code: string) => tab.say(script({ text: ['```js', code, '```'].join('\n') }))
    await say(slow)
    await tab.done()
    const [thread = await tab.page.waitForEvent('worker')] = tab.page.workers()
    await new Promise((closed) => thread.once('close', closed))
    const blocks = tab.page.locator('.code code')
    expect(await blocks.nth(0).innerText()).toBe(slow)
    expect(await blocks.nth(0).locator('span').count()).toBe(0)
    await say('let after = 1')
    await tab.done()
    await blocks.nth(1).locator('.hljs-keyword').waitFor()
  })

  test('arguments and results of tools are text', async () => {
    await tab.button('New chat').click()
    const calls = TOOL_TEXTS.map((text) => ({ name: 'test__echo', arguments: { text } }))
    await tab.say(script({ calls }, { text: 'end' }))
    await tab.done()
    for (const [index, text] of TOOL_TEXTS.entries()) {
      const tool = tab.page.locator('.tool').nth(index)
      await tool.locator('summary').click()
      await expectHarmless()
      const parts = () => tool.locator('.sheet > div').allInnerTexts()
      const [given, result] = await parts()
      expect(given).toContain(text)
      expect(result).toContain(text)
      await tool.getByRole('button', { name: 'Raw' }).click()
      expect((await parts())[1]).toContain(JSON.stringify(text))
    }
  })

  test('characters of arguments that nobody sees are shown', async () => {
    tab = await host.open(context)
    const path = '/home/me/\u202Etxt.slaog/'
    await tab.say(script({ calls: [{ name: 'test__echo', arguments: { path } }] }, { text: 'end' }))
    await tab.done()
    await tab.page.locator('.tool > summary').click()
    await tab.page.getByText(String.raw`/home/me/\u{202e}txt.slaog/`, { exact: true }).waitFor()
  })

  test('names of tools are text', async () => {
    await tab.button('New chat').click()
    await tab.say(
      script({ calls: TOOL_NAMES.map((name) => ({ name, arguments: {} })) }, { text: 'end' }),
    )
    await tab.done()
    await expectHarmless()
    const shown = await tab.page.locator('.answer').innerText()
    for (const name of TOOL_NAMES) expect(shown).toContain(name)
  })

  test('the parts of a result of a tool are text, or pictures that run nothing', async () => {
    await tab.button('New chat').click()
    await tab.say(script({ calls: [{ name: 'hostile__blocks', arguments: {} }] }, { text: 'end' }))
    await tab.done()
    await tab.page.locator('.tool > summary').click()
    await expectHarmless()
    const shown = await tab.page.locator('.answer').innerText()
    for (const [, text] of BLOCKS) expect(shown).toContain(text)
  })

  const asks = (params: object): string => {
    const given = { method: 'elicitation/create', params }
    return script({ calls: [{ name: 'asker__ask', arguments: given }] }, { text: 'end' })
  }

  test('questions of tools are text', async () => {
    tab = await host.open(context)
    await tab.say(asks(FORM))
    const question = tab.page.locator('.asks')
    await question.getByText(FORM.message).waitFor()
    await question.getByText(`${MARKUP} of a field`).waitFor()
    await question.locator('select').selectOption(`${MARKUP} of a choice`)
    await expectHarmless()
    await question.getByRole('button', { name: 'Decline' }).click()
    await tab.done()
    await expectHarmless()
  })

  test.each(ADDRESSES)('nobody is led to %s', async (url) => {
    tab = await host.open(context)
    const message = `${MARKUP} of an address`
    await tab.say(asks({ mode: 'url', elicitationId: 'e1', message, url }))
    await tab.done()
    await tab.page.getByText('url must begin with https:// or http://').waitFor()
    await expectHarmless()
  })

  test('titles of chats are text', async () => {
    for (const title of TITLES) {
      const row = tab.page.locator('.session:has([aria-current])')
      await row.locator('summary').click()
      await tab.button('Rename').click()
      await tab.page.getByLabel('Title').fill(title)
      await tab.page.keyboard.press('Enter')
      await row.getByText(title, { exact: true }).waitFor()
      await expectHarmless()
    }
  })

  test('names of prompts and resources are text', async () => {
    const message = tab.page.getByLabel('Message', { exact: true })
    const option = tab.page.getByRole('option')
    await message.fill('/')
    await option.getByText(`${MARKUP} of a prompt`).first().waitFor()
    await expectHarmless()
    await tab.page.keyboard.press('Enter')
    const form = tab.page.getByRole('dialog', { name: `${MARKUP} title` })
    await form.getByText(`${MARKUP} of an argument`).waitFor()
    await expectHarmless()
    await tab.button('Put into the message').click()
    await expect.poll(() => message.inputValue()).toBe(MARKUP)
    await message.fill('')
    await message.pressSequentially('@')
    await option.getByText(`${MARKUP} of a resource`).first().waitFor()
    await option.getByText(`${MARKUP} of another resource`).first().waitFor()
    await expectHarmless()
    await message.fill('')
  })

  test('names and output of servers, and descriptions and fields of tools are text', async () => {
    await tab.page.getByRole('link', { name: 'Servers', exact: true }).click()
    // The name of a server in mcp.json becomes one of letters and digits.
    const server = (name: string | RegExp) =>
      tab.page.getByRole('navigation', { name: 'Servers' }).getByRole('link', { name })
    await server(/^img-src/).click()
    await tab.page.getByRole('region', { name: /hacked/ }).waitFor()
    await server(/^broken/).click()
    await tab.page.getByRole('region', { name: 'broken' }).getByText(MARKUP).first().waitFor()
    await server(/^hostile/).click()
    const tool = tab.page.getByRole('region', { name: 'hostile' })
    await tool.getByText(`${MARKUP} of a tool`).waitFor()
    await tool.getByLabel(MARKUP).waitFor()
    await tool.getByText('Schema').click()
    await tool.getByRole('button', { name: 'Try it' }).click()
    await tool.getByText('link to a script').waitFor()
    await expectHarmless()
  })

  test('names of files are text, and uploaded files have a policy with a sandbox', async () => {
    await tab.page.keyboard.press('Control+Shift+O')
    await tab.page.getByText('Ask for something a tool can do.').waitFor()
    const page = { mimeType: 'text/html', buffer: Buffer.from(`<script>${RUN}</script>`) }
    const svg = { name: 'x.svg', mimeType: 'image/svg+xml', buffer: Buffer.from(SVG) }
    const files = [...FILE_NAMES.map((name) => ({ name, ...page })), svg]
    await tab.page.locator('input[type=file]').setInputFiles(files)
    await eventually(async () => (await tab.page.getByText('Storing').count()) === 0)
    await tab.say(`{"script":[{"text":"seen"}],"x":"<img src=x onerror=${RUN}>"}`)
    await tab.done()
    await expectHarmless()
    const links = await tab.page.locator('.user .files a').all()
    expect(links).toHaveLength(files.length)
    expect(await tab.page.locator('.user .files').allInnerTexts()).toEqual([
      files.map(({ name }) => name).join('\n'),
    ])
    for (const link of links) {
      const response = await context.request.get((await link.getAttribute('href')) ?? '')
      expect(response.headers()['content-security-policy'] ?? '').toContain('sandbox')
    }
  })

  test('an uploaded page that is opened by its own address cannot reach the app', async () => {
    const api = new HostApi({ url: host.url })
    const session = tab.sessionId
    const token = new URL((await api.share(session)).url).pathname.split('/').at(-1) ?? ''
    const attempts = SCRIPT_ATTEMPTS.map((attempt) => `try { ${attempt} } catch {}`).join('\n')
    await using visitor = await host.browser.newContext()
    const app = await visitor.newPage()
    await app.goto(host.url)
    for (const [mimeType, document] of DOCUMENTS) {
      const blob = new Blob([document(attempts)], { type: mimeType })
      const key = await api.storeFile(session, 'page', blob)
      for (const url of [api.fileUrl(session, key), api.sharedFileUrl(token, key)]) {
        const downloaded = app.waitForEvent('download')
        await app.evaluate(`void (location.href = '${url}')`)
        // It is downloaded, and not shown.
        await (await downloaded).cancel()
        expect(await app.evaluate('window.hacked')).toBeUndefined()
        expect(await app.evaluate("localStorage.getItem('hacked')")).toBeNull()
        expect(await app.evaluate('document.cookie')).not.toContain('hacked')
      }
    }
  })
})
