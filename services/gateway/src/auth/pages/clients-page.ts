import type { Html } from './page.ts'
import { html, nameOf, page, timeOf } from './page.ts'

export interface ConnectedClient {
  /** The id of the grant, sent by the form. */
  readonly id: string
  readonly name: string
  readonly scopes: readonly string[]
  /** Epoch milliseconds. */
  readonly allowedAt: number
}

/** The page with the programs that may act for a user, each with a button to withdraw this consent. */
export function clientsPage(
  account: string,
  clients: readonly ConnectedClient[],
  path: string,
): string {
  return page(
    'Connected programs',
    html`<p>These may act as <strong>${nameOf(account)}</strong>.</p>
      ${clients.length === 0 ? html`<p>None.</p>` : html`<div class="rows">${clients.map((client) => row(client, path))}</div>`}
      <p class="soft">
        A program that is disconnected loses its access at once and has to ask again.
      </p>
      <p><a href="/login">Back</a></p>`,
  )
}

function row({ id, name, scopes, allowedAt }: ConnectedClient, path: string): Html {
  return html`<form class="row" method="post" action="${path}">
    <dl>
      <dt>${nameOf(name)}</dt>
      <dd>${scopes.join(', ')}, allowed on ${timeOf(allowedAt)}</dd>
    </dl>
    <input type="hidden" name="client" value="${id}" />
    <button name="decision" value="withdraw">Disconnect</button>
  </form>`
}
