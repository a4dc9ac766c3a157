import type { Accounts } from '@mcp-host/auth'
import { accountPrincipalId } from '@mcp-host/auth'
import type { Bus } from '@mcp-host/bus'
import type { Principal } from '@mcp-host/contracts'
import { isAdmin, listSessions } from '@mcp-host/contracts'
import { z } from 'zod'
import type { Api } from '../../edge/api.ts'
import { faults, jsonAnswer } from '../../edge/api.ts'
import { askOrchestrator } from './ask-orchestrator.ts'
import { next, Page } from './page.ts'
import { Session } from './session-schema.ts'

const ListQuery = Page.extend({
  title: z
    .string()
    .max(200)
    .optional()
    .describe('Only sessions whose title contains this text; case is ignored.'),
  metadataKey: z
    .string()
    .max(200)
    .optional()
    .describe('Only sessions whose metadata has this key, whatever its value.'),
})

export interface ListSessionsDeps {
  readonly bus: Bus
  /** Absent without accounts of this host. */
  readonly logins?:
    | { readonly local?: { readonly accounts: Pick<Accounts, 'firstAdmin'> } | undefined }
    | undefined
}

export function addListSessions(api: Api, { bus, logins }: ListSessionsDeps): void {
  /** Other admins open the sessions of `LOCAL` by their ids. */
  const ownsLocal = (principal: Principal): boolean => {
    const first = isAdmin(principal) ? logins?.local?.accounts.firstAdmin : undefined
    return first !== undefined && accountPrincipalId(first.name) === principal.id
  }

  api.get(
    '/sessions',
    {
      schema: {
        tags: ['sessions'],
        operationId: 'listSessions',
        summary: 'List the sessions, the newest first',
        querystring: ListQuery,
        response: {
          200: jsonAnswer('A page of them.', z.object({ sessions: z.array(Session), next })),
          ...faults(400, 503, 504),
        },
      },
    },
    async ({ query, envelope, principal }) => {
      const asked = { ...query, ...(ownsLocal(principal) ? { withLocal: true } : {}) }
      return askOrchestrator(bus, listSessions, asked, envelope)
    },
  )
}
