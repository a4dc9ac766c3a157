import { newId } from '@mcp-host/client'
import { draftOf } from './draft.ts'
import { host } from './host.ts'
import { keepNewChat, readNewChat, userOfDrafts } from './kept-draft.ts'
import { restorePlace } from './login-page.ts'
import { noteBegun } from './session-outbox.ts'
import { Store } from './store.ts'
import type { PageName } from './user-pages.ts'
import { findPage } from './user-pages.ts'

/**
 * What the page shows. The address has it behind `#`, so that opening a link does not send it: the id of a session is a
 * secret. The page sends it to the host alone.
 */
export type Route =
  | {
      readonly page: 'chat'
      readonly session: string
      readonly isNew: boolean
      /** Id of the session whose place it took: the page stays the same, with its focus. */
      readonly insteadOf?: string
    }
  /** `server` and `tool`: names of what is shown; without them the first ones. */
  | { readonly page: 'servers'; readonly server?: string; readonly tool?: string }
  | { readonly page: PageName }
  | { readonly page: 'debug'; readonly session: string }
  /** `token`: the secret of a share link. */
  | { readonly page: 'shared'; readonly token: string }

/** What is shown to a user of the host only. */
export type OwnRoute = Exclude<Route, { page: 'shared' }>

/** A host that answers later is not waited for: the page says that it is not there. */
const PATIENCE_MS = 500

/** Id for the next new chat, made by the host. It keeps files before the first message only for its own ids. */
let spare: string | undefined
/** Id of the new chat that is shown or was left: its draft is found again until it gets a message. */
let unused = readNewChat()

restorePlace()
export const route = new Store<Route>(read())

/** The address of the chat that was shown last. */
export const chatAddress = new Store('#/')
const keepAddress = (): void => {
  const here = route.get()
  if (here.page === 'chat' || here.page === 'debug') {
    chatAddress.set('isNew' in here && here.isNew ? '#/' : sessionAddress(here.session))
  }
}
keepAddress()
route.subscribe(keepAddress)

addEventListener('hashchange', () => {
  const wasShared = route.get().page === 'shared'
  route.set(read())
  // A reader of a share link goes on to the chats.
  if (wasShared) void prepareNewChat()
})

function read(): Route {
  const [, page, session = ''] = location.hash.split('/')
  if (page === 'servers') return serversRoute(location.hash.split('/').slice(2))
  if (page === 'shared') return { page, token: session }
  const named = findPage(page)
  if (named !== undefined) return { page: named }
  if (/^[\w-]{16,64}$/.test(session)) {
    if (page === 'chat') return { page: 'chat', session, isNew: false }
    if (page === 'debug') return { page: 'debug', session }
  }
  unused ??= spare ?? newId()
  keepNewChat(unused)
  return { page: 'chat', session: unused, isNew: true }
}

function serversRoute([server, tool]: readonly string[]): Route {
  return {
    page: 'servers',
    ...(server === undefined ? {} : { server: decoded(server) }),
    ...(tool === undefined ? {} : { tool: decoded(tool) }),
  }
}

/** A name of an address, which users may have changed to anything. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

/** The address of a server, or of one of its tools. */
export function serverAddress(server: string, tool?: string): string {
  const place = `#/servers/${encodeURIComponent(server)}`
  return tool === undefined ? place : `${place}/${encodeURIComponent(tool)}`
}

async function refill(): Promise<void> {
  // Without the host a chat begins all the same; its messages wait.
  spare = await host.createSession().catch(() => undefined)
  // A draft stays where it is.
  if (spare === undefined || unused === undefined || !draftOf(unused).isEmpty) return
  const here = route.get()
  const isShown = here.page === 'chat' && here.isNew && here.session === unused
  unused = undefined
  if (isShown) route.set(read())
}

/** The address of a chat. */
export function sessionAddress(id: string): string {
  return `#/chat/${id}`
}

export function openSession(id: string): void {
  location.hash = sessionAddress(id)
}

/** Shows the events of a session. */
export function openDebug(id: string): void {
  location.hash = `#/debug/${id}`
}

export function openServers(): void {
  location.hash = '#/servers'
}

export function openPage(page: PageName): void {
  location.hash = `#/${page}`
}

/** Shows an empty chat. */
export function openNewChat(): void {
  history.pushState(null, '', location.pathname)
  route.set(read())
}

/** Gets an id of the host for a new chat, before one is shown. Readers of a share link begin no chat. */
export async function prepareNewChat(): Promise<void> {
  const here = route.get()
  if (here.page === 'shared') return
  const filled = refill()
  if (here.page !== 'chat' || !here.isNew) return
  await Promise.race([filled, new Promise((done) => setTimeout(done, PATIENCE_MS))])
}

/** Puts the first message's session into the address. */
export function keepSession(id: string): void {
  if (id === spare) {
    spare = undefined
    void refill()
  }
  if (id === unused) {
    unused = undefined
    keepNewChat(undefined)
    const user = userOfDrafts()
    if (user !== undefined) noteBegun(id, user)
  }
  history.replaceState(null, '', sessionAddress(id))
  const here = route.get()
  const isShown = here.page === 'chat' && here.session === id
  route.set({ ...(isShown ? here : { page: 'chat', session: id }), isNew: false })
}

/** Puts a session of the host in the place of one that it does not know. */
export function replaceNewChat(from: string, to: string): void {
  if (from === unused) {
    unused = to
    keepNewChat(to)
  }
  const here = route.get()
  if (here.page !== 'chat' || here.session !== from) return
  if (!here.isNew) history.replaceState(null, '', sessionAddress(to))
  route.set({ ...here, session: to, insteadOf: here.insteadOf ?? from })
}
