import { MAX_NOTICE_LENGTH } from '@mcp-host/contracts'
import { z } from 'zod'
import type { Api } from '../edge/api.ts'
import { faults, jsonAnswer } from '../edge/api.ts'
import type { GatewayAudit } from '../gateway-audit.ts'
import type { MaintenanceState } from '../maintenance-state.ts'

const State = z
  .object({
    isOn: z.boolean().describe('Whether new chat messages are refused.'),
    notice: z.string().optional().describe("The operator's words for users."),
    since: z.number().optional().describe('Epoch milliseconds.'),
    by: z.string().optional().describe('The principal who announced it.'),
  })
  .meta({ id: 'Maintenance', description: 'The maintenance of the host.' })

const Announcement = z.object({
  notice: z
    .string()
    .max(MAX_NOTICE_LENGTH)
    .default('')
    .describe('Words for users, such as when it ends.'),
})

export interface MaintenanceRoutesDeps {
  readonly maintenance: Pick<MaintenanceState, 'current' | 'begin' | 'end'>
  readonly audit: Pick<GatewayAudit, 'maintenanceChanged'>
}

/** Routes by which admins announce maintenance and take it back. */
export function addMaintenance(api: Api, { maintenance, audit }: MaintenanceRoutesDeps): void {
  const tags = ['operations']
  const state = (): z.infer<typeof State> => ({
    isOn: maintenance.current !== undefined,
    ...maintenance.current,
  })
  api.get(
    '/maintenance',
    {
      schema: {
        tags,
        operationId: 'getMaintenance',
        summary: 'Get whether maintenance is announced',
        response: { 200: jsonAnswer('It.', State), ...faults(400) },
      },
    },
    async () => state(),
  )

  api.post(
    '/maintenance',
    {
      schema: {
        tags,
        operationId: 'beginMaintenance',
        summary: 'Announce maintenance: new chat messages are refused, and running turns go on',
        body: Announcement,
        response: { 200: jsonAnswer('It has begun.', State), ...faults(400, 413, 415, 503) },
      },
    },
    async ({ body: { notice }, principal }) => {
      await audit.maintenanceChanged('maintenance-begun', principal, { notice })
      const announced = { notice, since: Date.now(), by: principal.id }
      await maintenance.begin(announced)
      return { isOn: true, ...announced }
    },
  )

  api.delete(
    '/maintenance',
    {
      schema: {
        tags,
        operationId: 'endMaintenance',
        summary: 'End maintenance: messages are taken again',
        response: {
          204: z.undefined().describe('It has ended, or there was none.'),
          ...faults(400, 503),
        },
      },
    },
    async ({ principal }, reply) => {
      await audit.maintenanceChanged('maintenance-ended', principal, {})
      await maintenance.end()
      return reply.code(204).send()
    },
  )
}
