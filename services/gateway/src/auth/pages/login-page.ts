import { alert, html, nameOf, page } from './page.ts'

export interface LoginPage {
  /** The name of the program that the user connects, as the program calls itself. */
  readonly client?: string | undefined
  /** The name that the user typed before. */
  readonly name?: string | undefined
  /** The path to which the browser is sent after the login. */
  readonly returnTo: string
  readonly fault?: string | undefined
  /** Whether an account can log in; default true. Without one there is no form. */
  readonly hasAccounts?: boolean | undefined
  /** The identity provider, if users can log in there instead. */
  readonly provider?: { readonly name: string; readonly path: string } | undefined
}

export function loginPage({ client, provider, hasAccounts = true, ...form }: LoginPage): string {
  return page(
    'Log in',
    html`${client === undefined ? undefined : html`<p>to connect <strong>${nameOf(client)}</strong></p>`}
    ${hasAccounts ? passwordForm(form) : NO_ACCOUNT}
    ${
      provider === undefined
        ? undefined
        : html`<p><a class="button" href="${provider.path}">Log in with ${provider.name}</a></p>`
    }
    ${hasAccounts ? LOST : undefined}`,
  )
}

/** The link is not here, since anybody reads this page. */
const NO_ACCOUNT = html`<p>This host has no account yet.</p>
  <p>
    The terminal in which it was started, or the log of the gateway, has a link that creates the
    first one. The link works for a day; each start of the host shows another one.
  </p>
  <p>Or run this on the machine of the host, which prints a link, too:</p>
  <p class="well"><code>npm run accounts -- create NAME --role admin</code></p>`

const LOST = html`<p class="soft">
  No account, or the password is lost? An admin of this host can send you a link.
</p>`

function passwordForm({ name, returnTo, fault }: Pick<LoginPage, 'name' | 'returnTo' | 'fault'>) {
  return html`${alert(fault)}
    <form method="post" action="/login">
      <input type="hidden" name="return" value="${returnTo}" />
      <label
        >Name
        <input
          name="name"
          value="${name}"
          required
          autocomplete="username"
          autocapitalize="none"
          spellcheck="false"
          maxlength="64"
          ${flag('autofocus', name === undefined)}
      /></label>
      <label
        >Password
        <input
          type="password"
          name="password"
          required
          autocomplete="current-password"
          maxlength="200"
          ${flag('autofocus', name !== undefined)}
      /></label>
      <button class="move">Log in</button>
    </form>`
}

function flag(name: string, isSet: boolean) {
  return isSet ? html` ${name}` : undefined
}

/** The path of the page with the programs that a user has connected. */
export const CLIENTS_PATH = '/login/clients'

export interface LoggedInPage {
  /** The address for MCP clients. */
  readonly mcpUrl: string
  /** The path of the web UI, if there is one. */
  readonly chatPath: string | undefined
  /** Whether this host connects programs itself. */
  readonly hasClients: boolean
}

export function loggedInPage(name: string, { mcpUrl, chatPath, hasClients }: LoggedInPage): string {
  return page(
    'You are logged in',
    html`<p>as <strong>${nameOf(name)}</strong>.</p>
      ${chatPath === undefined ? undefined : html`<p><a class="button" href="${chatPath}">Go to the chat</a></p>`}
      <p>Connect MCP clients to</p>
      <p class="well"><code>${mcpUrl}</code></p>
      <p class="soft">They open this browser and ask for your permission.</p>
      ${hasClients ? html`<p><a href="${CLIENTS_PATH}">Connected programs</a></p>` : undefined}
      <form method="post" action="/logout"><button>Log out</button></form>`,
  )
}

export function loggedOutPage(): string {
  return page(
    'You are logged out',
    html`<p>Programs that you connected stay connected.</p>
      <p><a href="/login">Log in again</a></p>`,
  )
}
