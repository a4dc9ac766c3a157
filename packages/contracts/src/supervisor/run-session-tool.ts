import { defineCall } from '../contract.ts'
import { ServerName } from '../ids.ts'
import { runTool, RunToolRequest } from '../tool/run-tool.ts'

/** Passes `runTool` on to the supervisor that runs the process of the session. The answer means the same. */
export const runSessionTool = defineCall('sup.{supervisor}.run', {
  from: ['mcp-supervisor'],
  to: ['mcp-supervisor'],
  answeredBy: 'one',
  request: RunToolRequest.extend({ server: ServerName }),
  reply: runTool.reply,
})
