import type { Contract } from './contract.ts'
import { clientCancel, clientMessage } from './mcp/client-message.ts'
import { serverLog } from './mcp/server-log.ts'
import { mcpClientRequest, mcpRequestControl, mcpRequest } from './mcp/mcp-request.ts'
import { readClientLists } from './mcp/read-client-lists.ts'
import { resumeRequest } from './mcp/resume-request.ts'
import { resourceUpdated, watchClientResources, watchResources } from './mcp/watch-resources.ts'
import { generate } from './model/generate.ts'
import { generationControl } from './model/generation-control.ts'
import { generationSnapshot } from './model/generation-snapshot.ts'
import { runningGenerations } from './model/running-generations.ts'
import { sample } from './model/sample.ts'
import { textDelta } from './model/text-delta.ts'
import { orchestratorControl } from './orchestrator/orchestrator-control.ts'
import { orchestratorJobs } from './orchestrator/orchestrator-jobs.ts'
import { controlFact } from './session/control.ts'
import { generationResult } from './session/generation-result.ts'
import { toolFact } from './session/tool-fact.ts'
import { turnEvent } from './session/turn-event.ts'
import { userMessage } from './session/user-message.ts'
import { deleteSession } from './session-api/delete-session.ts'
import { getSession } from './session-api/get-session.ts'
import { listSessions } from './session-api/list-sessions.ts'
import { updateSession } from './session-api/update-session.ts'
import { sessionHistory } from './session-api/session-history.ts'
import { runSessionTool } from './supervisor/run-session-tool.ts'
import {
  beginServerLogin,
  changeServerLogin,
  endServerLogin,
  finishServerLogin,
  listServerLogins,
  bringServerLogin,
  describeServerLogin,
  readLoginKeys,
  readUsersOfServer,
} from './supervisor/server-login.ts'
import { supervisorControl } from './supervisor/supervisor-control.ts'
import { connectionsFound, findConnections } from './socket/connections.ts'
import { principalCheck } from './principal-check.ts'
import { storageFault } from './storage-fault.ts'
import { callControl } from './tool/call-control.ts'
import { runTool } from './tool/run-tool.ts'
import { toolProgress } from './tool/tool-progress.ts'

/** Every message on the bus, for the documentation and the test of the wire format. */
export const CONTRACTS: Readonly<Record<string, Contract>> = {
  userMessage,
  controlFact,
  turnEvent,
  generationResult,
  toolFact,
  textDelta,
  generate,
  generationControl,
  generationSnapshot,
  runningGenerations,
  sample,
  runTool,
  callControl,
  toolProgress,
  orchestratorControl,
  orchestratorJobs,
  principalCheck,
  findConnections,
  connectionsFound,
  listSessions,
  getSession,
  updateSession,
  deleteSession,
  sessionHistory,
  supervisorControl,
  runSessionTool,
  beginServerLogin,
  finishServerLogin,
  listServerLogins,
  readLoginKeys,
  describeServerLogin,
  bringServerLogin,
  readUsersOfServer,
  changeServerLogin,
  endServerLogin,
  mcpRequest,
  resumeRequest,
  mcpClientRequest,
  mcpRequestControl,
  clientMessage,
  clientCancel,
  serverLog,
  watchResources,
  watchClientResources,
  resourceUpdated,
  readClientLists,
  storageFault,
}
