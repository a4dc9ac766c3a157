import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { textOf } from '@mcp-host/mcp-testkit'
import { expect, test } from 'vitest'

import { fetchFrom, openPage, openSite, openWeb } from './__fixtures__/open-web.ts'

const fixture = (name: string): string =>
  readFileSync(join(import.meta.dirname, '__fixtures__', `${name}.html.txt`), 'utf8')

test('an article is Markdown, with absolute links and without the parts of the site', async () => {
  const site = await openPage(fixture('article'), 'text/html; charset=utf-8')
  const result = await fetchFrom(site, { path: '/sea/tides' })
  expect(result.structuredContent).toMatchObject({
    title: 'The tides of Saint-Malo & the coast',
    url: `${site.origin}/sea/tides`,
    contentType: 'text/html',
    text: `# The tides of Saint-Malo

The **highest tides** of Europe reach the walls of the [old town](${site.origin}/places/town.html?a=1&b=2#walls) twice a day.

## When to go

- In spring, at *new moon*
- In autumn

1. Read the table
2. Leave in time

> The sea waits for nobody.

![A wave at the wall](${site.origin}/tide.jpg)

A trick`,
  })
  expect(textOf(result)).toContain(
    `Title: The tides of Saint-Malo & the coast\nURL: ${site.origin}`,
  )
})

test('the format text has no marks, and raw is the source', async () => {
  const site = await openPage(fixture('article'))
  const { structuredContent: text } = await fetchFrom(site, { format: 'text' })
  expect(text).toHaveProperty('text', expect.stringContaining('walls of the old town twice a day.'))
  expect(text).toHaveProperty('text', expect.not.stringMatching(/[*#[\]]|subscribe|script/i))
  const { structuredContent: raw } = await fetchFrom(site, { format: 'raw' })
  expect(raw).toMatchObject({ title: '', text: fixture('article') })
})

test('a page of documentation keeps its code and its tables', async () => {
  const { structuredContent } = await fetchFrom(await openPage(fixture('documentation')))
  expect(structuredContent).toHaveProperty(
    'text',
    `# parse(text)

Calls \`parse()\` on a text.

\`\`\`ts
const value = parse('<b>')
if (value) {
  print(value)
}
\`\`\`

| Option | Default |
| --- | --- |
| \`strict\` | false |
| depth | 64 \\| 128 |

strict

Refuses comments`,
  )
})

test('a news page loses its navigation, and its links are relative to its base', async () => {
  const { structuredContent } = await fetchFrom(await openPage(fixture('news')))
  expect(structuredContent).toHaveProperty(
    'text',
    `# Bridge opens after ten years

The bridge over the river was opened on Friday, ten years after work began.

It cost twice as much as planned, [the city says](https://cdn.example/news/costs.html).`,
  )
})

test('a page without structure is read as a whole', async () => {
  const { structuredContent } = await fetchFrom(await openPage(fixture('bare')))
  expect(structuredContent).toMatchObject({
    title: '',
    text: expect.stringMatching(/^Opening hours.*\*\*Closed\*\* on Sunday.*Room 12$/s),
  })
})

test('broken HTML is read to its end', async () => {
  const site = await openPage(fixture('broken'))
  const { structuredContent } = await fetchFrom(site)
  expect(structuredContent).toMatchObject({
    title: 'Broken page',
    text: expect.stringMatching(/heading without an end.*\| one \| two \|.*three.*And more$/s),
  })
  expect(structuredContent).toHaveProperty('text', expect.stringContaining(`(${site.origin}/next)`))
})

test('a page in another charset is decoded', async () => {
  const site = await openPage(Buffer.from(fixture('latin'), 'latin1'))
  const { structuredContent } = await fetchFrom(site)
  expect(structuredContent).toMatchObject({
    title: 'Café Müller',
    text: expect.stringContaining('Geöffnet täglich außer Montag, für 3 £.'),
  })
})

test.each([
  ['application/json', '{"a":[1,2]}'],
  ['application/ld+json; charset=utf-8', '{"@id":1}'],
  ['text/markdown', '# Project\n\n> Summary\n\n- [Docs](/docs.md)'],
  ['text/plain', '<p>not HTML</p>'],
  ['application/xml', '<a>1</a>'],
  ['application/octet-stream', '# llms.txt'],
])('a file of the type %s is not converted', async (type, body) => {
  const { structuredContent } = await fetchFrom(await openPage(body, type))
  expect(structuredContent).toMatchObject({ text: body, contentType: type.split(';')[0] })
})

test.each([
  ['image/png', 'no text but image/png; fetch the page that shows it'],
  ['application/pdf', 'a PDF (application/pdf)'],
  ['application/zip', 'no text but application/zip'],
  ['image/svg+xml', 'no text but image/svg+xml'],
  ['application/octet-stream', 'no text but application/octet-stream'],
])('a file of the type %s is refused with a hint', async (type, hint) => {
  const result = await fetchFrom(await openPage(Buffer.from([1, 0, 2]), type))
  expect(result.isError).toBe(true)
  expect(textOf(result)).toContain(hint)
})

test('a long page comes in parts, which are together the whole', async () => {
  const body = 'ab😀'.repeat(1_000)
  const site = await openPage(body, 'text/plain')
  const client = await openWeb({ allowedOrigins: [site.origin] })
  let whole = ''
  let offset: unknown = 0
  let parts = 0
  while (offset !== undefined) {
    const { structuredContent } = await client.callTool({
      name: 'web_fetch',
      arguments: { url: site.origin, maxLength: 1_499, offset },
    })
    const page = structuredContent as { text: string; nextOffset?: number; length: number }
    expect(page.length).toBe(body.length)
    expect(page.text.isWellFormed()).toBe(true)
    whole += page.text
    offset = page.nextOffset
    parts += 1
  }
  expect(whole).toBe(body)
  expect(parts).toBe(3)
})

test('the text of a part tells the offset of the next one', async () => {
  const result = await fetchFrom(await openPage('x'.repeat(30_000), 'text/plain'))
  expect(result.structuredContent).toMatchObject({ nextOffset: 20_000, length: 30_000 })
  expect(textOf(result)).toContain('(30000 characters; next part: offset 20000)')
})

test('redirects are followed, and the page has the last address', async () => {
  const site = await openSite(({ url }, response) => {
    if (url === '/3') response.setHeader('content-type', 'text/plain').end('there')
    else response.writeHead(301, { location: url === '/' ? 'a/../2' : '/3' }).end()
  })
  const { structuredContent } = await fetchFrom(site)
  expect(structuredContent).toMatchObject({ url: `${site.origin}/3`, text: 'there' })
  expect(site.requests).toEqual(['/', '/2', '/3'])
})

test('a request names this host, and has neither cookies nor a referrer', async () => {
  const site = await openSite(({ headers }, response) => {
    const fields = { 'content-type': 'application/json', 'set-cookie': 'a=1' }
    response.writeHead(200, fields).end(JSON.stringify(headers))
  })
  const client = await openWeb({ allowedOrigins: [site.origin] })
  const call = { name: 'web_fetch', arguments: { url: site.origin } }
  await client.callTool(call)
  const { structuredContent } = await client.callTool(call)
  const { text } = structuredContent as { text: string }
  expect(JSON.parse(text)).toMatchObject({
    'user-agent': expect.stringContaining('mcp-host'),
    'accept-encoding': 'identity',
  })
  expect(text).not.toMatch(/cookie|referer|authorization/)
})

test('an error of a site is an error with its status', async () => {
  const site = await openSite((_, response) => response.writeHead(404).end('gone'))
  const result = await fetchFrom(site)
  expect(result.isError).toBe(true)
  expect(textOf(result)).toContain('answered with the status 404')
})

test('the tools say that they only read, and read what strangers write', async () => {
  const client = await openWeb({ search: { provider: 'brave', key: 'k' } })
  const { tools } = await client.listTools()
  expect(tools.map(({ name }) => name)).toEqual(['web_fetch', 'web_search'])
  for (const { annotations, outputSchema } of tools) {
    expect(annotations).toEqual({ readOnlyHint: true, openWorldHint: true })
    expect(outputSchema).toBeDefined()
  }
})
