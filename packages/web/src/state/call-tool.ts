import type { CallOptions, ToolAnswer } from '@mcp-host/client'
import { HostError } from '@mcp-host/client'

/** The requests to the host that a call needs. */
export interface ToolHost {
  callTool(name: string, given: object, options: CallOptions): Promise<ToolAnswer>
  answerApproval(id: string, action: 'accept' | 'decline'): Promise<void>
}

/** Calls a tool, and asks the user where the host wants permission. `undefined`: the user does not allow the call. */
export async function callTool(
  host: ToolHost,
  call: { readonly name: string; readonly given: object; readonly options?: CallOptions },
  ask: () => Promise<boolean>,
): Promise<ToolAnswer | undefined> {
  const { name, given, options = {} } = call
  try {
    return await host.callTool(name, given, options)
  } catch (error) {
    if (!(error instanceof HostError) || error.approval === undefined) throw error
    const { approval } = error
    const isAllowed = await ask()
    await host.answerApproval(approval, isAllowed ? 'accept' : 'decline')
    return isAllowed ? host.callTool(name, given, { ...options, approval }) : undefined
  }
}
