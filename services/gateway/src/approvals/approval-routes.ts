import { z } from 'zod'
import { checkAccess } from '../auth/access.ts'
import type { Api } from '../edge/api.ts'
import { faults, jsonAnswer } from '../edge/api.ts'
import type { ApprovalQueue } from './approval-queue.ts'
import { ApprovalRecord } from './approval-record.ts'

const fields = ApprovalRecord.shape

const Approval = z
  .object({
    id: z.string().describe('Sent with the call once it is allowed.'),
    principal: fields.principal.describe('Whose call it is.'),
    server: fields.server.describe('The MCP server.'),
    tool: fields.tool.describe('Its name at the server.'),
    arguments: z.unknown().describe('What the tool would be called with.'),
    hash: fields.hash.describe('SHA-256 of the arguments as JSON with sorted names.'),
    state: fields.state.describe('`used`: the call has run, or may have.'),
    answeredBy: fields.answeredBy.describe('Who decided.'),
    createdAt: fields.createdAt.describe('Epoch milliseconds.'),
    expiresAt: fields.expiresAt.describe('Epoch milliseconds; later the call has to be sent anew.'),
  })
  .meta({ id: 'Approval', description: 'A tool call that a user has to allow.' })

const Answer = z.object({
  action: z.enum(['accept', 'decline']).describe('Whether the call may run.'),
})

const params = z.object({ id: z.string().max(100) })
const tags = ['mcp']

/** The routes for calls that wait for a decision of their principal or an admin. */
export function addApprovalRoutes(api: Api, { queue }: { readonly queue: ApprovalQueue }): void {
  api.get(
    '/approvals',
    {
      schema: {
        tags,
        operationId: 'listApprovals',
        summary: 'List the tool calls that wait for a decision, the oldest first',
        description: 'Those of the caller; an admin sees all.',
        response: {
          200: jsonAnswer('Them.', z.object({ approvals: z.array(Approval) })),
          ...faults(400, 503),
        },
      },
    },
    async ({ principal }) => ({ approvals: await queue.list(principal) }),
  )

  api.get(
    '/approvals/:id',
    {
      schema: {
        tags,
        operationId: 'getApproval',
        summary: 'Get one of them, also after its decision',
        params,
        response: { 200: jsonAnswer('It.', Approval), ...faults(400, 404, 503) },
      },
    },
    async ({ principal, params: { id } }) => queue.get(principal, id),
  )

  api.post(
    '/approvals/:id',
    {
      schema: {
        tags,
        operationId: 'answerApproval',
        summary: 'Allow or refuse a tool call',
        description:
          'Needs the scope `decide`. The first decision counts. An allowed call runs when it is sent again, once.',
        params,
        body: Answer,
        response: {
          204: z.undefined().describe('The decision is stored.'),
          ...faults(400, 404, 409, 413, 415, 503),
        },
      },
    },
    async ({ principal, params: { id }, body: { action } }, reply) => {
      checkAccess(principal, 'decide')
      await queue.answer(principal, id, action === 'accept' ? 'allowed' : 'refused')
      return reply.code(204).send()
    },
  )
}
