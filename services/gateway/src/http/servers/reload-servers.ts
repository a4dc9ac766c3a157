import { BusError, presentSupervisors } from '@mcp-host/contracts'
import { z } from 'zod'
import type { Api } from '../../edge/api.ts'
import { faults, jsonAnswer } from '../../edge/api.ts'
import { askSupervisors, Outcome } from './ask-supervisors.ts'
import type { ServerRoutesDeps } from './server-routes-deps.ts'

const names = z.array(z.string()).optional()

const Reloaded = z
  .object({
    outcomes: z
      .array(
        Outcome.extend({
          added: names.describe('Servers that are new.'),
          changed: names.describe('Servers that run with other settings.'),
          removed: names.describe('Servers that end.'),
          unchanged: names.describe('Servers that run on.'),
        }),
      )
      .describe('One for each supervisor.'),
  })
  .meta({ id: 'ReloadedServers', description: 'What a reload of mcp.json did.' })

export function addReloadServers(api: Api, { bus, catalog, audit }: ServerRoutesDeps): void {
  api.post(
    '/servers/reload',
    {
      schema: {
        tags: ['servers'],
        operationId: 'reloadServers',
        summary: 'Make every supervisor read mcp.json again',
        description: 'A faulty file changes nothing at its supervisor; `error` names the faults.',
        response: { 200: jsonAnswer('What it did.', Reloaded), ...faults(400, 503) },
      },
    },
    async ({ principal, envelope }) => {
      const supervisors = presentSupervisors(catalog.entries.values())
      if (supervisors.length === 0) throw new BusError('unavailable', 'no supervisor is running')
      await audit.serversChanged('servers-reloaded', principal)
      const outcomes = await askSupervisors(bus, supervisors, { action: 'reload' }, envelope)
      return { outcomes: outcomes.map(({ reload, ...outcome }) => ({ ...outcome, ...reload })) }
    },
  )
}
