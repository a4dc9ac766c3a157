// Contents of models, tools, users and files that want to be more than text.
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

/** Elements that no content may have. */
const FORBIDDEN =
  'script, iframe, object, embed, link, style, meta, base, svg, video, audio, form, [style*=url], [onerror], [onload], [onfocus], [ontoggle], [href^="javascript" i], [href^="data"], [href^="/"], [src^="http"], [src^="/logout"]'

describe.skipIf(NEEDS_BROWSER !== '')(`hostile contents in the web UI${NEEDS_BROWSER}`, () => {
  let host: WebHost
  let context: BrowserContext
  let tab: ChatTab

  beforeAll(async () => {
    host = await WebHost.start({
      tools: [{ name: 'echo', inputSchema: { type: 'object' } }],
      env: { MAX_TOOL_CALLS: String(ANSWERS.length) },
    })
    context = await host.browser.newContext()
  })
  afterAll(() => host[Symbol.asyncDispose]())

  /** Fails if the shown turns have more than text, or if something ran or was asked for. */
  async function expectHarmless(): Promise<void> {
    const found = `Array.from(document.querySelectorAll('.thread :is(${FORBIDDEN})'), (each) => each.outerHTML)`
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

  test('arguments and results of tools are text', async () => {
    await tab.button('New chat').click()
    const calls = TOOL_TEXTS.map((text) => ({ name: 'test__echo', arguments: { text } }))
    await tab.say(script({ calls }, { text: 'end' }))
    await tab.done()
    for (const summary of await tab.page.locator('.tool summary').all()) await summary.click()
    await expectHarmless()
    const shown = await tab.page.locator('.answer').innerText()
    for (const text of TOOL_TEXTS) expect(shown).toContain(JSON.stringify(text))
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

  test('names of files are text, and what was uploaded never runs in this origin', async () => {
    await tab.button('New chat').click()
    await tab.page.getByText('What shall be done?').waitFor()
    const buffer = Buffer.from(`<script>${RUN}</script>`)
    await tab.page
      .locator('input[type=file]')
      .setInputFiles(FILE_NAMES.map((name) => ({ name, mimeType: 'text/html', buffer })))
    await eventually(async () => (await tab.page.getByText('Storing').count()) === 0)
    await tab.say(`{"script":[{"text":"seen"}],"x":"<img src=x onerror=${RUN}>"}`)
    await tab.done()
    const links = await tab.page.locator('.user .files a').all()
    expect(links).toHaveLength(FILE_NAMES.length)
    for (const link of links) {
      const response = await context.request.get((await link.getAttribute('href')) ?? '')
      expect(response.headers()['content-security-policy'] ?? '').toContain('sandbox')
    }
    expect(await tab.page.evaluate('window.hacked')).toBeUndefined()
    await context.close()
  })
})
