import type { ServerLogin } from '@mcp-host/contracts'
import type { Html } from './page.ts'
import { html, isolated, nameOf, page, timeOf } from './page.ts'

interface ConnectPage {
  readonly server: string
  /** The address of the server. */
  readonly url: string
  /** The name of the user at this host. */
  readonly user: string
  /** The login that the page is about; absent for a page about all. */
  readonly label?: string | undefined
  /** The logins that the user has there. */
  readonly logins: readonly ServerLogin[]
}

/** The page that asks a user before the browser is sent to the login of an MCP server. */
export function connectPage({ server, url, user, label, logins }: ConnectPage): string {
  const path = `/connect/${encodeURIComponent(server)}`
  const asked = logins.find((each) => each.label === label)
  const isNew = logins.length === 0 || (label !== undefined && asked === undefined)
  const shown = logins.filter((each) => label === undefined || each === asked)
  const title = isNew ? 'Log in at a server?' : 'Connected'
  return page(
    title,
    html`<p>
        You are <strong>${nameOf(user)}</strong> here. Your chats and programs use
        <strong>${nameOf(server)}</strong> in your name once you have logged in there.
      </p>
      <dl class="sheet">
        <dt>Address</dt>
        <dd>${isolated(url)}</dd>
      </dl>
      ${isNew ? begin(path, label) : html`<div class="rows">${shown.map((login) => row(path, login))}</div>`}
      ${isNew || label !== undefined ? undefined : addition(path)}
      <p><a href="/">Back</a></p>`,
    isNew ? html`Log in at ${nameOf(server)}?` : html`Your logins at ${nameOf(server)}`,
  )
}

function begin(path: string, label: string | undefined): Html {
  return html`${label === undefined ? undefined : html`<p>The account is called <strong>${nameOf(label)}</strong>.</p>`}
    <p class="soft">
      This host keeps the login until you disconnect. Go on only if you have just asked for it
      yourself.
    </p>
    <form class="acts" method="post" action="${path}">
      <input type="hidden" name="account" value="${label}" />
      <button class="move" name="decision" value="connect">Go to its login</button>
    </form>`
}

function row(path: string, { label, issuer, isNeeded, connectedAt }: ServerLogin): Html {
  const state = isNeeded ? 'needs a login again; it was made' : 'logged in since'
  return html`<form class="row" method="post" action="${path}">
    <dl>
      <dt>${nameOf(label)}</dt>
      <dd>${state} ${timeOf(connectedAt)}, by ${isolated(new URL(issuer).host)}</dd>
    </dl>
    <input type="hidden" name="account" value="${label}" />
    <button name="decision" value="connect">Log in again</button>
    <button name="decision" value="disconnect">Disconnect</button>
  </form>`
}

function addition(path: string): Html {
  return html`<h2>Another account</h2>
    <form method="post" action="${path}">
      <label for="account">Its name, as work or private</label>
      <input id="account" name="account" required maxlength="60" autocomplete="off" />
      <p><button name="decision" value="connect">Go to its login</button></p>
    </form>`
}

/** The page from which the browser goes on to the authorization server. */
export function continuePage({
  server,
  url,
}: {
  readonly server: string
  readonly url: string
}): string {
  return page(
    'Going to the login',
    html`<p>
        The login of <strong>${nameOf(server)}</strong> is at ${isolated(new URL(url).host)}.
      </p>
      <p><a href="${url}">Go on</a></p>`,
  )
}

/** The page at the end of a login. */
export function connectedPage(server: string): string {
  return page(
    'You are connected',
    html`<p>
        Your chats and programs can use <strong>${nameOf(server)}</strong> now. Go back to where you
        came from; you can close this page.
      </p>
      <p><a href="/">To the chat</a></p>`,
  )
}
