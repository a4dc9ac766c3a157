import { admin } from './admin.ts'
import type { ToolHost } from './call-tool.ts'
import { host } from './host.ts'

/** The host of this page, for calls of tools. */
export const toolHost: ToolHost = {
  callTool: (name, given, options) => host.callTool(name, given, options),
  answerApproval: (id, action) => admin.answerApproval(id, action),
}
