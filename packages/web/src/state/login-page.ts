import { tabStorage } from './browser-storage.ts'

/** The place behind `#` to which the user comes back, in this tab. The login page is not sent it: ids of sessions are secrets. */
const PLACE = 'place-before-login'
/** When this tab was last sent to the login page, in epoch milliseconds. */
const SENT_AT = 'sent-to-login-at'
/** A login that does not last must not send the tab there again and again. */
const SENT_AGAIN_MS = 30_000

export const LOGIN_URL = '/login?return=%2F'

/** Remembers the shown chat or page for the way back from the login page. */
export function keepPlace(): void {
  tabStorage.setItem(PLACE, location.hash)
  tabStorage.setItem(SENT_AT, String(Date.now()))
}

/** Shows the chat or page from before the login again. */
export function restorePlace(): void {
  const place = tabStorage.getItem(PLACE) ?? ''
  tabStorage.removeItem(PLACE)
  if (location.hash === '' && place !== '') history.replaceState(null, '', place)
}

/** Leads to the login page if the host has one. Resolves to whether the page is left. */
export async function goToLogin(): Promise<boolean> {
  const sentAt = Number(tabStorage.getItem(SENT_AT) ?? 0)
  if (Date.now() - sentAt < SENT_AGAIN_MS || !(await hasLoginPage())) return false
  keepPlace()
  location.assign(LOGIN_URL)
  return true
}

/** A host that takes keys alone has none. */
async function hasLoginPage(): Promise<boolean> {
  try {
    const answer = await fetch(LOGIN_URL, { method: 'HEAD', redirect: 'manual' })
    return answer.ok || answer.type === 'opaqueredirect'
  } catch {
    // The page says what else can be done.
    return false
  }
}
