import type { ServerLogin } from '@mcp-host/contracts'
import { html, isolated, nameOf, page } from './page.ts'

interface ConnectPage {
  readonly server: string
  /** The address of the server. */
  readonly url: string
  /** The name of the user at this host. */
  readonly user: string
  /** The login that the user has there. */
  readonly login: ServerLogin | undefined
}

/** The page that asks a user before the browser is sent to the login of an MCP server. */
export function connectPage({ server, url, user, login }: ConnectPage): string {
  const path = `/connect/${encodeURIComponent(server)}`
  if (login !== undefined) {
    return page(
      'Connected',
      html`<p>
          <strong>${nameOf(user)}</strong> is logged in at <strong>${nameOf(server)}</strong> since
          ${new Date(login.connectedAt).toISOString().slice(0, 16).replace('T', ' ')} UTC.
        </p>
        <dl class="sheet">
          <dt>Login by</dt>
          <dd>${isolated(new URL(login.issuer).host)}</dd>
        </dl>
        <form class="acts" method="post" action="${path}">
          <button class="move" name="decision" value="connect">Log in again</button>
          <button name="decision" value="disconnect">Disconnect</button>
        </form>
        <p><a href="/">Back</a></p>`,
    )
  }
  return page(
    'Log in at a server?',
    html`<p>
        You are <strong>${nameOf(user)}</strong> here. Log in at <strong>${nameOf(server)}</strong>,
        so that your chats and programs can use it in your name.
      </p>
      <dl class="sheet">
        <dt>Address</dt>
        <dd>${isolated(url)}</dd>
      </dl>
      <p class="soft">
        This host keeps the login until you disconnect. Go on only if you have just asked for it
        yourself.
      </p>
      <form class="acts" method="post" action="${path}">
        <button class="move" name="decision" value="connect">Go to its login</button>
      </form>
      <p><a href="/">Back</a></p>`,
    html`Log in at ${nameOf(server)}?`,
  )
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
