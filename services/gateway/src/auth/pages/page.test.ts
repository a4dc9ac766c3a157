import { expect, test } from 'vitest'
import { consentPage } from './consent-page.ts'
import { html, page, pageHeaders } from './page.ts'

test('values in a page are escaped, and its own parts are not', () => {
  const hostile = `<script>"'&`
  const text = page(hostile, html`<p title="${hostile}">${html`<b>${hostile}</b>`}${undefined}</p>`)
  expect(text).not.toContain('<script>')
  expect(text).toContain('<b>&lt;script&gt;&quot;&#39;&amp;</b>')
})

test('a page runs no script, is in no frame, and its form leads to named places alone', () => {
  const policy = pageHeaders(['http://127.0.0.1:1234'])['content-security-policy']
  expect(policy).toContain("default-src 'none'")
  expect(policy).toContain("frame-ancestors 'none'")
  expect(policy).toContain("form-action 'self' http://127.0.0.1:1234;")
})

test('the question names the client, the account, what is asked for and where it goes', () => {
  const text = consentPage({
    uid: 'u1',
    account: 'ann',
    clientName: '<i>Tool</i>',
    clientHost: 'tool.example',
    redirect: 'tool.example',
    scopes: ['mcp', 'openid'],
  })
  expect(text).toContain('Allow &lt;i&gt;Tool&lt;/i&gt; to connect?')
  for (const part of ['ann', 'tool.example', 'use the tools']) expect(text).toContain(part)
  expect(text).not.toContain('openid')
})
