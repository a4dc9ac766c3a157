import { forgetDrafts } from '../../state/kept-draft.ts'
import { forgetOutbox } from '../../state/session-outbox.ts'

/** Ends the login of this browser, and leaves the page. Rejects when the host does not answer. */
export async function logOut(): Promise<void> {
  // An identity provider ends its own login on a page of its own.
  const answer = await fetch('/logout', { method: 'POST', redirect: 'manual' })
  if (!answer.ok && answer.type !== 'opaqueredirect')
    throw new Error(`the answer is ${answer.status}`)
  // The next user of this browser must not send it.
  forgetOutbox()
  forgetDrafts()
  location.assign('/logout')
}
