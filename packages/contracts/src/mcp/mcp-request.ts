import { z } from 'zod'
import { defineEvent, defineOpaqueCall } from '../contract.ts'
import { McpClient } from './mcp-client.ts'

/**
 * The method of an `ask` that the gateway answers: whether the policy still lets an accepted call run. The body is the
 * name and the arguments of the tool, the result `{ isAllowed }`.
 */
export const POLICY_METHOD = 'mcp-host/policy'

/**
 * The head of an MCP request; its body is the `params`. Their `_meta` may have `RequestOptions` under
 * `mcp-host/options`.
 */
export const McpRequestHead = z.object({
  method: z.string(),
  /** Unique, for control messages. */
  id: z.string(),
  /** The era of the caller: results are adapted to it. */
  era: z.enum(['legacy', 'modern']),
  /** Whether the caller gets the notifications of the server during the request, as `notice`s. */
  progress: z.boolean().optional(),
  /** A caller with a session: it may be asked, and gets log messages. */
  client: McpClient.optional(),
  /** Whether the caller can resume the request after it lost its connection. */
  isResumable: z.boolean().optional(),
  /** Whether the output of the tool, which is no object, was listed as `{ result: … }` for this older caller. */
  isOutputWrapped: z.boolean().optional(),
  /** A question to the caller's user, who must accept before the request is sent to the server. */
  confirm: z.string().optional(),
  /** Whether the gateway answers an `ask` of `POLICY_METHOD` once the user has accepted. */
  isDecidedAgain: z.boolean().optional(),
  /** The key of a body that is too large for a message; the object exists until the answer. */
  stored: z.string().optional(),
  /** The digest of the stored body. */
  digest: z.string().optional(),
})
export type McpRequestHead = z.infer<typeof McpRequestHead>

const number = z.number().int().positive().optional()
/** Whether the result contains links to resources of the server, which the gateway must rewrite. */
const hasLinks = z.boolean().optional()

/**
 * The head of one reply to an MCP request, by `type`:
 * - `result`, `error`: the last; the body is the server's result, or a JSON-RPC error object.
 * - `stored`: the last; the result is too large for a message and is in the object store under `key`.
 * - `notice`: the body is the `params` of a notification.
 * - `ask`: the body is the `params` of a request to the caller; its answer goes to `mcpRequestControl` under `ask`.
 * - `running`: the answer to a ping.
 * - `kept`: `resumeRequest` finds the request at this supervisor.
 * - `moved`: the last; another caller resumed the request.
 * The replies of a resumable request have a `number`, counted from 1.
 */
export const McpReplyHead = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('result'),
    number,
    hasLinks,
    /** Whether the host refused the arguments, so that the server was not asked. */
    isRefused: z.boolean().optional(),
  }),
  z.object({ type: z.literal('error'), number, code: z.number().optional() }),
  z.object({
    type: z.literal('stored'),
    number,
    hasLinks,
    key: z.string(),
    bytes: z.number().int().nonnegative(),
    digest: z.string().optional(),
  }),
  z.object({ type: z.literal('notice'), number, method: z.string() }),
  z.object({ type: z.literal('ask'), number, ask: z.string(), method: z.string() }),
  z.object({ type: z.literal('running') }),
  z.object({ type: z.literal('kept'), supervisor: z.string() }),
  z.object({ type: z.literal('moved') }),
])
export type McpReplyHead = z.infer<typeof McpReplyHead>

/**
 * Sends a request of an MCP client to any supervisor that runs the server. Errors: `unavailable` when none does,
 * so that nothing was started.
 */
export const mcpRequest = defineOpaqueCall('mcp.{server}.req', {
  from: ['gateway'],
  to: ['mcp-supervisor'],
  answeredBy: 'group',
  request: McpRequestHead,
  reply: McpReplyHead,
})

/**
 * Sends a request of an MCP client to the process that serves this client alone. Errors: `unavailable` while it has
 * none.
 */
export const mcpClientRequest = defineOpaqueCall('mcp.{server}.{client}.req', {
  from: ['gateway'],
  to: ['mcp-supervisor'],
  answeredBy: 'one',
  request: McpRequestHead,
  reply: McpReplyHead,
})

/**
 * Controls a request or the process of a client; supervisors that do not run it ignore the message.
 * `cancel` ends the request. `ping` asks for the reply `running`. `answer` is the answer of the client to a question of
 * the server. By client id: `roots-changed`, and `leave` at the end of its session.
 */
export const mcpRequestControl = defineEvent('mcp.{server}.ctl', {
  from: ['gateway'],
  to: ['mcp-supervisor'],
  durability: 'live',
  payload: z.discriminatedUnion('action', [
    z.object({ action: z.enum(['cancel', 'ping']), id: z.string() }),
    z.object({
      action: z.literal('answer'),
      /** The id of the question. */
      ask: z.string(),
      /** The session that answers: that in which the question was asked. */
      client: z.string().optional(),
      result: z.looseObject({}).optional(),
      error: z
        .looseObject({ code: z.number(), message: z.string(), data: z.unknown().optional() })
        .optional(),
    }),
    z.object({ action: z.enum(['roots-changed', 'leave']), client: z.string() }),
  ]),
})
export type McpRequestControl = z.infer<typeof mcpRequestControl.payload>
