/** Drafts are kept for each tab, because two tabs may write in one chat. */
const PREFIX = 'draft '

export interface KeptDraft {
  readonly text: string
  readonly model?: string | undefined
}

/** What this tab had written in a session before it was loaded again. */
export function readDraft(session: string): KeptDraft {
  const kept = sessionStorage.getItem(`${PREFIX}${session}`)
  return kept === null ? { text: '' } : (JSON.parse(kept) as KeptDraft)
}

export function keepDraft(session: string, draft: KeptDraft): void {
  const key = `${PREFIX}${session}`
  try {
    if (draft.text === '' && draft.model === undefined) sessionStorage.removeItem(key)
    else sessionStorage.setItem(key, JSON.stringify(draft))
  } catch {
    // It is too large for the storage: an older draft must not come back in its place.
    sessionStorage.removeItem(key)
  }
}

/** Forgets the draft of a session that is gone; without an id all drafts, as after a logout. */
export function forgetDrafts(session?: string): void {
  for (const key of Object.keys(sessionStorage))
    if (session === undefined ? key.startsWith(PREFIX) : key === `${PREFIX}${session}`)
      sessionStorage.removeItem(key)
}
