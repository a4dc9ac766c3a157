import type { Principal } from '@mcp-host/client'
import { HostError } from '@mcp-host/client'
import { browserStorage } from './browser-storage.ts'
import { host } from './host.ts'
import { claimDrafts } from './kept-draft.ts'
import { Store } from './store.ts'

/** Who the host takes this page for. */
export type Login =
  | { readonly state: 'unknown' }
  | { readonly state: 'known'; readonly principal: Principal }
  /** The host knows no user for this page. `why`: in words. */
  | { readonly state: 'missing'; readonly why: string }
  /** There was a user, whose login has ended. What the page shows stays. */
  | { readonly state: 'expired'; readonly principal: Principal }

export const login = new Store<Login>({ state: 'unknown' })

/** The key by which other tabs of this browser hear of a login. */
const LOGGED_IN_AT = 'logged-in-at'

/** Asks the host who the user is. Other faults than a missing login are shown by the connection. */
export async function loadLogin(): Promise<void> {
  const before = login.get()
  try {
    const principal = await host.me()
    // The page has begun with the drafts of another user of this tab.
    if (claimDrafts(principal.id)) location.reload()
    login.set({ state: 'known', principal })
    browserStorage.setItem(LOGGED_IN_AT, String(Date.now()))
  } catch (error) {
    if (!(error instanceof HostError) || error.status !== 401) return
    if (before.state === 'unknown') login.set({ state: 'missing', why: error.message })
    else markExpired()
  }
}

/** The host has refused the login of this page. */
export function markExpired(): void {
  const before = login.get()
  if (before.state === 'known') login.set({ ...before, state: 'expired' })
}

/** Calls the listener when a tab of this browser has logged in after the login of this page had ended. */
export function onLoginElsewhere(listener: () => void): () => void {
  const onStorage = ({ key }: StorageEvent): void => {
    if (key === LOGGED_IN_AT && login.get().state === 'expired') listener()
  }
  addEventListener('storage', onStorage)
  return () => removeEventListener('storage', onStorage)
}
