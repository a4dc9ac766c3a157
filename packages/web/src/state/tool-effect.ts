import type { Tool } from '@mcp-host/client'

/** What a tool does to the things outside of the chat, as its server says; `undefined`: the server does not say it. */
export function effectOf({
  annotations: { readOnlyHint, destructiveHint } = {},
}: Pick<Tool, 'annotations'>): 'reads' | 'writes' | 'destroys' | undefined {
  if (readOnlyHint === true) return 'reads'
  if (destructiveHint === false) return 'writes'
  // By the protocol a tool that is not read-only may destroy, unless its server says otherwise.
  return destructiveHint === true || readOnlyHint === false ? 'destroys' : undefined
}
