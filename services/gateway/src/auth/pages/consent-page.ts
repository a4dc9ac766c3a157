import type { Html } from './page.ts'
import { html, isolated, nameOf, page } from './page.ts'

export interface ConsentPage {
  readonly uid: string
  readonly account: string
  /** The name that the client gives itself, unchecked. */
  readonly clientName: string
  /** The host name in the client's id, if the id proves it. */
  readonly clientHost: string | undefined
  /** The target to which the browser is sent afterwards, in words. */
  readonly redirect: string
  /** Names of scopes. */
  readonly scopes: readonly string[]
}

/** The rights of each scope, in words for users. */
const WORDS: Readonly<Record<string, string>> = {
  mcp: 'use the tools, prompts and resources of the MCP servers',
  chat: 'read, continue and delete your conversations',
  decide: 'approve tool calls in your name, its own too, and publish your conversations by links',
  audit: 'read the audit log',
  admin: 'administer this host: accounts, API keys and metrics',
}

/** The page that asks a user whether a client may act for them. */
export function consentPage(about: ConsentPage): string {
  const { uid, account, clientName, clientHost, redirect, scopes } = about
  const listed = scopes.filter((scope) => Object.hasOwn(WORDS, scope))
  return page(
    'Allow a program to connect?',
    html`<p>It asks to act as <strong>${nameOf(account)}</strong>:</p>
      <ul>
        ${listed.map((scope) => html`<li>${WORDS[scope]} <span class="soft">(${scope})</span></li>`)}
      </ul>
      <dl class="sheet">${row('Published by', clientHost)} ${row('Goes back to', redirect)}</dl>
      <p class="soft">${advice(clientHost)} Allow only what you have just started yourself.</p>
      <form class="acts" method="post" action="/auth/interaction/${uid}">
        <button class="move" name="decision" value="allow">Allow</button>
        <button name="decision" value="deny">Do not allow</button>
      </form>
      <form method="post" action="/auth/interaction/${uid}">
        <button class="bare" name="decision" value="switch">Use another account</button>
      </form>`,
    html`Allow ${nameOf(clientName)} to connect?`,
  )
}

function row(name: string, value: string | undefined): Html | undefined {
  return value === undefined
    ? undefined
    : html`<dt>${name}</dt>
        <dd>${isolated(value)}</dd>`
}

function advice(clientHost: string | undefined): string {
  return clientHost === undefined ? 'The name is what the program calls itself.' : ''
}
