import { isLoginNeeded } from '@mcp-host/upstream'
import type { CallStep } from './serve-call.ts'

/** The tool of a server that lists no tools before somebody has logged in. A call of it gets the link to the login. */
export function connectTool(server: string): {
  readonly name: string
  readonly description: string
  readonly inputSchema: Readonly<Record<string, unknown>>
} {
  const description = `The user has not logged in at "${server}" yet. This tool answers with the link at which to log in; then the tools of "${server}" take its place.`
  return { name: 'connect', description, inputSchema: { type: 'object', properties: {} } }
}

/** Answers calls that need a login of their user with the link to it. */
export function loginNeeded(link: string): CallStep {
  return (next) => async (call) => {
    try {
      return await next(call)
    } catch (error) {
      if (!isLoginNeeded(error)) throw error
      const { server } = call
      const text = `The call was not run: "${server}" needs a login of the user. Tell the user to open ${link} and to log in there. Then the call can be repeated.`
      const result = {
        content: [{ type: 'text', text }],
        isError: true,
        _meta: { [LOGIN]: { server, link } },
      }
      // A call of a tool has a result of this form, whatever its caller makes of it.
      return result as Awaited<ReturnType<typeof call.send>>
    }
  }
}

/** The field of a result that says where the user has to log in. */
const LOGIN = 'mcp-host/login'
