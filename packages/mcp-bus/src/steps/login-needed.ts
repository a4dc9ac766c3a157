import { aborted } from '@mcp-host/async'
import { isLoginNeeded, ValidationError } from '@mcp-host/upstream'
import type { CallStep, ServeCall, ServedCall } from './serve-call.ts'

const CONNECT = 'connect'

/** The tool of a server that lists no tools before somebody has logged in. A call of it gets the link to the login. */
export function connectTool(server: string): {
  readonly name: string
  readonly description: string
  readonly inputSchema: Readonly<Record<string, unknown>>
} {
  const description = `The user has not logged in at "${server}" yet. This tool answers with the link at which to log in; then the tools of "${server}" take its place.`
  return { name: CONNECT, description, inputSchema: { type: 'object', properties: {} } }
}

export interface LoginPage {
  /** The page at which the user begins the login. */
  readonly link: string
  /** What tells the login from others of the user at the server; absent for the only one. */
  readonly label?: string | undefined
  /** Resolves when the user has logged in and the server can be used. Stops waiting when the signal aborts. */
  readonly loggedIn: (over: AbortSignal) => Promise<void>
}

/**
 * Shows the users of calls without a login where to log in. The call goes on when the user has done so; where the link
 * cannot be shown, or the user does not follow it, the link is the result.
 */
export function loginNeeded({ link, label, loggedIn }: LoginPage): CallStep {
  /** The calls that wait, by their sessions: a user is asked once for all of them. */
  const waiting = new Map<string, Wait>()
  const begin = (call: ServedCall<unknown>, session: string): Wait => {
    const outcome = show(call).finally(() => void waiting.delete(session))
    const begun = { call, outcome }
    waiting.set(session, begun)
    return begun
  }
  const show = async ({ showLink, server }: ServedCall<unknown>): Promise<boolean> => {
    if (showLink === undefined) return false
    const over = new AbortController()
    const account = label === undefined ? '' : ` with your account "${label}"`
    const message = `Log in at "${server}"${account}, so that it can be used in your name.`
    try {
      return await showLink({ url: link, message }, loggedIn(over.signal))
    } finally {
      over.abort()
    }
  }
  const wait = async (call: ServedCall<unknown>): Promise<boolean> => {
    const { session = call.call } = call
    for (;;) {
      const shared = waiting.get(session) ?? begin(call, session)
      if (await shared.outcome) return true
      // The one that was shown the link may have been cancelled; the others still wait.
      const isCancelled = shared.call.cancelled?.().aborted === true
      if (shared.call === call || !isCancelled) return false
    }
  }
  return (next) => async (call) => {
    try {
      return await next(call)
    } catch (error) {
      if (!isLoginNeeded(error)) throw error
      const cancelled = call.cancelled?.()
      const isDone = await Promise.race([wait(call), ...(cancelled ? [aborted(cancelled)] : [])])
      cancelled?.throwIfAborted()
      return isDone === true ? again(next, call, link) : noLogin(call, link)
    }
  }
}

interface Wait {
  /** The call whose user is shown the link. */
  readonly call: ServedCall<unknown>
  readonly outcome: Promise<boolean>
}

/** Repeats a call after the login. The tool that stands for the login is gone by then. */
async function again<Result>(
  next: ServeCall,
  call: ServedCall<Result>,
  link: string,
): Promise<Result> {
  try {
    return await next(call)
  } catch (error) {
    if (isLoginNeeded(error)) return noLogin(call, link)
    if (call.tool !== CONNECT || !(error instanceof ValidationError)) throw error
    const text = `The user is logged in at "${call.server}" now. List its tools again.`
    // As in `noLogin`.
    return { content: [{ type: 'text', text }] } as Result
  }
}

/** The field of a result that says where the user has to log in. */
const LOGIN = 'mcp-host/login'

function noLogin<Result>({ server, tool }: ServedCall<Result>, link: string): Result {
  const _meta = { [LOGIN]: { server, link } }
  if (tool === CONNECT) {
    const text = `Open ${link} and log in there. Then the tools of "${server}" can be used.`
    // As below.
    return { content: [{ type: 'text', text }], _meta } as Result
  }
  const text = `The call was not run: "${server}" needs a login of the user. Tell the user to open ${link} and to log in there. Then the call can be repeated.`
  // A call of a tool has a result of this form, whatever its caller makes of it.
  return { content: [{ type: 'text', text }], isError: true, _meta } as Result
}
