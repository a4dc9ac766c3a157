import { PrincipalId } from '@mcp-host/contracts'
import { z } from 'zod'
import type { Api } from '../../edge/api.ts'
import { faults, jsonAnswer } from '../../edge/api.ts'
import type { ClientLimits } from '../../limits/unlimited.ts'

const Limits = z
  .object({
    limits: z
      .array(
        z.object({
          setting: z.string().describe('The setting of the gateways that has it.'),
          what: z.string().describe('What is counted, such as `requests`.'),
          permits: z.number().int().optional().describe('How many; absent: there is no limit.'),
          windowMs: z
            .number()
            .int()
            .optional()
            .describe('In how many milliseconds; absent: at a time.'),
          used: z
            .number()
            .int()
            .optional()
            .describe(
              'What the principal has used of it in the present window, at all gateways; absent where it is not counted by principal.',
            ),
        }),
      )
      .describe('All limits for clients that the gateways have.'),
  })
  .meta({ id: 'Limits', description: 'The limits for clients.' })

/** The route by which admins see the limits, and what a principal has used of them. */
export function addListLimits(api: Api, { limits }: { readonly limits: ClientLimits }): void {
  api.get(
    '/limits',
    {
      schema: {
        tags: ['auth'],
        operationId: 'listLimits',
        summary: 'List the limits for clients, and what a principal has used of them',
        description:
          'Permits that other gateways hold in advance count as used: a twentieth of the limit each.',
        querystring: z.object({
          principal: PrincipalId.optional().describe('Default: the caller.'),
        }),
        response: { 200: jsonAnswer('Them.', Limits), ...faults(400) },
      },
    },
    async ({ query, principal }) => ({
      limits: await limits.list(query.principal ?? principal.id),
    }),
  )
}
