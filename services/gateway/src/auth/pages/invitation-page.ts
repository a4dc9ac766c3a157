import { alert, html, page } from './page.ts'

export interface InvitationPage {
  readonly token: string
  /** The account; `undefined` for the first admin, who chooses a name. */
  readonly account: string | undefined
  /** The name that the user typed before. */
  readonly name?: string | undefined
  readonly fault?: string | undefined
}

/** The page on which the owner of an account sets its password. */
export function invitationPage({ token, account, name, fault }: InvitationPage): string {
  const nameField =
    account === undefined
      ? html`<label
          >Name <span>small letters, digits, . _ - @ +</span>
          <input
            name="name"
            value="${name}"
            required
            autofocus
            autocomplete="username"
            autocapitalize="none"
            spellcheck="false"
            maxlength="64"
        /></label>`
      : html`<input type="hidden" name="name" value="${account}" autocomplete="username" />`
  return page(
    account === undefined ? 'Create the first admin' : `Set the password of ${account}`,
    html`${alert(fault)}
      <form method="post" action="/invite/${token}">
        ${nameField}
        <label
          >Password <span>at least 10 characters</span>
          <input
            type="password"
            name="password"
            required
            minlength="10"
            maxlength="200"
            autocomplete="new-password"
        /></label>
        <label
          >The same again
          <input
            type="password"
            name="again"
            required
            minlength="10"
            maxlength="200"
            autocomplete="new-password"
        /></label>
        <button class="move">${account === undefined ? 'Create account' : 'Set password'}</button>
      </form>`,
  )
}
