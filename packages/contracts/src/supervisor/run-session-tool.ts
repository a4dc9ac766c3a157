import { defineCall } from '../contract.ts'
import { ServerName } from '../ids.ts'
import { runTool, RunToolRequest } from '../tool/run-tool.ts'

/**
 * Run a tool on the process that a session has of its own, at the supervisor that has it. Passed on by the
 * one that got the call; the answer means the same.
 */
export const runSessionTool = defineCall('sup.{supervisor}.run', {
  answeredBy: 'one',
  request: RunToolRequest.extend({ server: ServerName }),
  reply: runTool.reply,
})
