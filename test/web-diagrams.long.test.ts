// Diagrams of answers in a real Chromium.
import { script } from '@mcp-host/testkit'
import type { BrowserContext } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { accessFaults } from './web-axe.ts'
import type { ChatTab } from './web-host.ts'
import { NEEDS_BROWSER, WebHost } from './web-host.ts'

const FENCE = '```'
const block = (source: string): string => `${FENCE}mermaid\n${source}\n${FENCE}\n\nthe end`
const PLAIN = 'flowchart LR\n  a[Begin] --> b[End]'
const RUN = 'top.hacked=1;parent.hacked=1'

/** Diagrams that try to run a script, or to load something. */
const HOSTILE = [
  `flowchart LR\n  a --> b\n  click a "javascript:${RUN}"\n  click b href "javascript:${RUN}"`,
  `flowchart LR\n  a["<img src=x onerror='${RUN}'>"] --> b["<script>${RUN}</script>"]`,
  `%%{init: {"securityLevel": "loose", "htmlLabels": true, "flowchart": {"htmlLabels": true}}}%%\nflowchart LR\n  a["<img src='https://evil.example/a.png' onerror='${RUN}'>"] --> b\n  click b call alert("x")`,
  `%%{init: {"themeCSS": "@import url(https://evil.example/a.css); .node { background: url(https://evil.example/b.png) }"}}%%\n${PLAIN}`,
  'flowchart LR\n  a@{ img: "https://evil.example/c.png", label: "x", w: 60, h: 60 } --> b',
  `sequenceDiagram\n  participant A\n  link A: Click @ javascript:${RUN}\n  A->>A: </script><script>${RUN}</script>`,
  `---\nconfig:\n  securityLevel: loose\n---\nflowchart LR\n  a["<svg onload='${RUN}'/>"]`,
]

describe.skipIf(NEEDS_BROWSER !== '')(`diagrams in the web UI${NEEDS_BROWSER}`, () => {
  let host: WebHost
  let context: BrowserContext
  let tab: ChatTab

  beforeAll(async () => {
    host = await WebHost.start({ tools: [{ name: 'echo', inputSchema: { type: 'object' } }] })
  })
  afterAll(() => host[Symbol.asyncDispose]())

  beforeEach(async () => {
    ;({ context, tab } = await host.visit())
  })
  afterEach(() => host.leave(context))

  const diagrams = () => tab.page.getByRole('img', { name: 'Diagram' })
  /** The sources of the pictures, which are SVG. */
  const pictures = async (): Promise<string[]> => {
    const sources = `Array.from(document.querySelectorAll('img.diagram'), (each) => each.src)`
    return (await tab.page.evaluate<string[]>(sources)).map(decodeURIComponent)
  }

  test('a diagram is a picture once its code has ended, and its source is one click away', async () => {
    const libraries: string[] = []
    tab.page.on('request', (request) => {
      if (request.url().includes('mermaid')) libraries.push(request.url())
    })
    const rest = `${'%% a word\n'.repeat(30)}%% the last word\n${'%% and more\n'.repeat(20)}`
    const text = `${FENCE}mermaid\n${PLAIN}\n${rest}${FENCE}\n\nthe end`
    await tab.say(script({ text, tokensPerSecond: 30 }))
    await tab.answering('the last word')
    expect(libraries).toEqual([])
    await diagrams().waitFor()
    await tab.done()
    const size = `(() => { const { naturalWidth, naturalHeight } = document.querySelector('img.diagram')
      return naturalWidth > naturalHeight && naturalHeight > 20 })()`
    expect(await tab.page.evaluate(size)).toBe(true)
    const [light = ''] = await pictures()
    expect(light).toContain('Begin')
    expect(await accessFaults(tab.page)).toEqual([])
    await tab.button('Source').click()
    await tab.page.locator('.code code', { hasText: 'a[Begin]' }).waitFor()
    expect(await diagrams().count()).toBe(0)
    await tab.button('Source').click()
    await tab.page.emulateMedia({ colorScheme: 'dark' })
    await expect.poll(pictures).not.toEqual([light])
    expect(await tab.page.locator('iframe').count()).toBe(0)
  })

  test('a diagram with an error, or that is too long, is shown as its source with the reason', async () => {
    const long = `flowchart LR\n${'%% long\n'.repeat(3_000)}`
    await tab.say(script({ text: [block('flowchart XX\n  nothing'), block(long)].join('\n\n') }))
    await tab.done()
    const notes = tab.page.getByText('The diagram cannot be drawn: ')
    await notes.nth(1).waitFor()
    expect(await notes.nth(1).innerText()).toContain('longer than 20480 characters')
    expect(await diagrams().count()).toBe(0)
    await tab.page.locator('.code code', { hasText: 'flowchart XX' }).waitFor()
    expect(await tab.page.locator('iframe').count()).toBe(0)
  })

  test('hostile diagrams run nothing in the page and load nothing', async () => {
    const reached: string[] = []
    await context.route('https://evil.example/**', async (route) => {
      reached.push(route.request().url())
      await route.abort()
    })
    await tab.say(script({ text: HOSTILE.map(block).join('\n\n') }))
    await tab.done()
    const ends = tab.page.locator('.code:has(.diagram, .note)')
    await ends.nth(HOSTILE.length - 1).waitFor({ timeout: 60_000 })
    expect(await tab.page.evaluate('window.hacked')).toBeUndefined()
    const shown = await pictures()
    expect(shown.length).toBeGreaterThan(HOSTILE.length / 2)
    for (const svg of shown) expect(svg).not.toMatch(/<script|\son\w+=|javascript:/i)
    expect(tab.page.frames()).toHaveLength(1)
    // The sandbox has refused them: they did not reach the network.
    expect(reached).toEqual([])
    const refused = /^a request to https:\/\/evil\.example\/|violates.*"img-src data: blob:"/
    host.faults = host.faults.filter((fault) => !refused.test(fault))
  })

  test('a drawing that never ends is ended, and the next diagram is drawn', async () => {
    const endless = `;{ const { render } = mermaid
      mermaid.render = (id, text) => { while (text.includes('Forever')); return render(id, text) } }`
    await tab.page.route('**/assets/mermaid*.js', async (route) => {
      const response = await route.fetch()
      await route.fulfill({ response, body: `${await response.text()}${endless}` })
    })
    const forever = PLAIN.replace('Begin', 'Forever')
    await tab.say(script({ text: [block(forever), block(PLAIN)].join('\n\n') }))
    await tab.page.getByText('The diagram cannot be drawn: it takes too long').waitFor()
    await diagrams().waitFor()
    expect(await tab.page.locator('iframe').count()).toBe(0)
  })
})
