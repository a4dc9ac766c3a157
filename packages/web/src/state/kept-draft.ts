import { tabStorage } from './browser-storage.ts'
import type { Turn } from './turn.ts'

/** Drafts are kept for each tab, because two tabs may write in one chat. */
const PREFIX = 'draft '
/** The same for messages that the host has refused. */
const REFUSED = 'refused '
/** The key of the id of the new chat that has no message yet. */
const NEW_CHAT = 'new-chat'
/** The key of the id of the user. */
const USER = 'drafts-of'

export interface KeptDraft {
  readonly text: string
  readonly model?: string | undefined
}

/** The draft of a session that this tab had before its reload. */
export function readDraft(session: string): KeptDraft {
  const kept = tabStorage.getItem(`${PREFIX}${session}`)
  return kept === null ? { text: '' } : (JSON.parse(kept) as KeptDraft)
}

export function keepDraft(session: string, draft: KeptDraft): void {
  const isEmpty = draft.text === '' && draft.model === undefined
  keep(`${PREFIX}${session}`, isEmpty ? undefined : JSON.stringify(draft))
}

/** The messages of a session that were refused before the reload of this tab. */
export function readRefused(session: string): readonly Turn[] {
  return JSON.parse(tabStorage.getItem(`${REFUSED}${session}`) ?? '[]') as Turn[]
}

export function keepRefused(session: string, turns: readonly Turn[]): void {
  keep(`${REFUSED}${session}`, turns.length === 0 ? undefined : JSON.stringify(turns))
}

/** The id of the new chat that this tab had before its reload. */
export function readNewChat(): string | undefined {
  return tabStorage.getItem(NEW_CHAT) ?? undefined
}

export function keepNewChat(id: string | undefined): void {
  keep(NEW_CHAT, id)
}

/** Forgets what was written in a session, and not sent. */
export function forgetDraft(session: string): void {
  for (const prefix of [PREFIX, REFUSED]) keep(`${prefix}${session}`, undefined)
}

/** Forgets what was written in all sessions, and not sent, as after a logout. */
export function forgetDrafts(): void {
  for (const key of tabStorage.keys)
    if ([PREFIX, REFUSED, NEW_CHAT].some((prefix) => key.startsWith(prefix)))
      tabStorage.removeItem(key)
}

/** The user whose drafts this page has, also while it is left for the one of another user. */
let owner = tabStorage.getItem(USER) ?? undefined

export function userOfDrafts(): string | undefined {
  return owner
}

/** Forgets the drafts of another user of this tab. Returns whether there was one. */
export function claimDrafts(user: string): boolean {
  keep(USER, user)
  owner ??= user
  if (owner === user) return false
  forgetDrafts()
  return true
}

function keep(key: string, value: string | undefined): void {
  if (value === undefined) tabStorage.removeItem(key)
  else tabStorage.setItem(key, value)
}
