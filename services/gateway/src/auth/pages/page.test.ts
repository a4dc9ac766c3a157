import { describe, expect, test } from 'vitest'
import { clientsPage } from './clients-page.ts'
import { consentPage } from './consent-page.ts'
import { errorPage } from './error-page.ts'
import { invitationPage } from './invitation-page.ts'
import { loggedInPage, loginPage } from './login-page.ts'
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

test('the question tells that a program asks for decisions of its user', () => {
  const about = {
    uid: 'u',
    account: 'ann',
    clientName: 'Tool',
    clientHost: undefined,
    redirect: '',
  }
  const isTold = (scopes: string[]) =>
    consentPage({ ...about, scopes }).includes('approve tool calls in your name')
  expect([isTold(['mcp', 'chat', 'decide']), isTold(['mcp', 'chat'])]).toEqual([true, false])
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
  expect(text).toContain('Allow <bdi>&lt;i&gt;Tool&lt;/i&gt;</bdi> to connect?')
  for (const part of ['ann', 'tool.example', 'use the tools']) expect(text).toContain(part)
  expect(text).not.toContain('openid')
})

describe.each<[string, (name: string) => string]>([
  [
    'question',
    (clientName) =>
      consentPage({
        uid: 'u',
        account: 'ann',
        clientName,
        clientHost: undefined,
        redirect: '',
        scopes: [],
      }),
  ],
  [
    'list of programs',
    (name) => clientsPage('ann', [{ id: 'g', name, scopes: ['mcp'], allowedAt: 0 }], '/clients'),
  ],
  ['login form', (client) => loginPage({ client, returnTo: '' })],
  [
    'page of a login',
    (name) =>
      loggedInPage(name, { mcpUrl: 'https://host.example/mcp', chatPath: '/', hasClients: true }),
  ],
])('a name on the %s', (_, show) => {
  test('has no hidden characters, and does not turn the text around it', () => {
    const text = show('Safe\u202Eelif\u200B\u0007')
    expect(text).toContain(String.raw`<bdi>Safe\u{202e}elif\u{200b}\u{7}</bdi>`)
  })

  test('is cut', () => {
    const text = show('😀'.repeat(40_000))
    expect(text).toContain(`<bdi>${'😀'.repeat(100)}…</bdi>`)
    expect(text.length).toBeLessThan(4_000)
  })
})

test('an error and a form show the characters that a reader cannot see', () => {
  const hidden = 'a\u2066b'
  expect(errorPage({ title: hidden, text: hidden })).not.toContain('\u2066')
  const about = { token: 't', account: undefined, name: hidden, fault: hidden }
  expect(invitationPage(about)).not.toContain('\u2066')
})
