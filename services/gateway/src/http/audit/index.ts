import { AuditEntry } from '@mcp-host/audit'
import type { Bus } from '@mcp-host/bus'
import type { Principal } from '@mcp-host/contracts'
import { BusError, hasAdminRole } from '@mcp-host/contracts'
import { z } from 'zod'
import type { Api } from '../../edge/api.ts'
import { faults, jsonAnswer } from '../../edge/api.ts'
import type { GatewayAudit } from '../../gateway-audit.ts'
import { searchAudit } from './search-audit.ts'
import { verifyAudit } from './verify-audit.ts'

const Pattern = z.string().min(1).max(200).optional()
const Time = z.iso.datetime({ offset: true, error: 'must be a time as 2026-11-25T08:00:00Z' })

const Query = z.object({
  principal: Pattern.describe('Id of a principal; `*` stands for anything, also below.'),
  server: Pattern.describe('Name of an MCP server.'),
  tool: Pattern.describe('Name of a tool at its server.'),
  action: Pattern.describe('Such as `tool-started`.'),
  outcome: Pattern.describe('Such as `ok` or `denied`.'),
  text: z.string().min(1).max(200).optional().describe('Anywhere in the entry as it is answered.'),
  since: Time.optional().describe('From then on.'),
  until: Time.optional().describe('Until then.'),
  order: z
    .enum(['oldest', 'newest'])
    .default('oldest')
    .describe('Which entries come first. The same for all pages of a search.'),
  limit: z.coerce.number().int().min(1).max(500).default(100),
  after: z
    .string()
    .regex(/^\d{1,15}\.\d{1,9}$/, 'must be `next` of the page before')
    .optional()
    .describe('`next` of the page before.'),
})

const Page = z.object({
  entries: z.array(
    AuditEntry.extend({ writer: z.string().describe('The process that wrote it.') }).meta({
      id: 'AuditEntry',
      description: 'An entry of the audit log. Arguments are for the role `auditor` alone.',
    }),
  ),
  next: z
    .string()
    .optional()
    .describe('`after` of the next page, which may be empty; absent at the end of the log.'),
})

const Verified = z
  .object({
    entries: z.number().int().describe('Entries that were read.'),
    writers: z.number().int().describe('Processes that wrote them.'),
    faultCount: z.number().int().describe('Faults that were found.'),
    faults: z
      .array(
        z.object({
          kind: z.string().describe('As `npm run audit -- verify` names it, such as `changed`.'),
          writer: z.string().describe('The process that wrote the entry.'),
          seq: z.number().int().describe('Number of the entry.'),
          time: z.string().describe('Of the entry; for `removed` that of the next one.'),
          count: z.number().int().optional().describe('How many entries are missing.'),
        }),
      )
      .describe('The first hundred of them.'),
    isComplete: z.boolean().describe('Whether the log was read to its end.'),
  })
  .meta({ id: 'AuditVerification', description: 'Whether the chains of the audit log are whole.' })

export interface AuditRoutesDeps {
  readonly bus: Pick<Bus, 'audit'>
  readonly audit: Pick<GatewayAudit, 'isOn'>
}

/** The routes of the audit log. Auditors and admins can read all entries, other users their own. */
export function addAuditRoutes(api: Api, { bus, audit }: AuditRoutesDeps): void {
  api.get(
    '/audit',
    {
      schema: {
        tags: ['auth'],
        operationId: 'searchAudit',
        summary: 'Search the audit log',
        description:
          'One request reads at most 20,000 entries, for two seconds: go on with `next` until it is absent. Needs the scope `audit` and the role `auditor` or `admin`; other principals see their own entries.',
        querystring: Query,
        response: { 200: jsonAnswer('A page of entries.', Page), ...faults(400, 404, 503) },
      },
    },
    async ({ principal, query: { since, until, after, ...rest } }) => {
      checkOn(audit)
      const { entries, next } = await searchAudit(
        bus,
        {
          ...rest,
          since: since === undefined ? undefined : new Date(since),
          until: until === undefined ? undefined : new Date(until),
          after: after === undefined ? undefined : toPosition(after),
          ...(seesAll(principal) ? {} : { owner: principal.id }),
        },
        isAuditor(principal) ? (entry) => entry : withoutBodies,
      )
      return {
        entries: [...entries],
        ...(next === undefined ? {} : { next: `${next.seq}.${next.index}` }),
      }
    },
  )

  let isVerifying = false
  api.get(
    '/audit/verification',
    {
      schema: {
        tags: ['auth'],
        operationId: 'verifyAudit',
        summary: 'Verify that no entry of the audit log was changed, removed, added or moved',
        description:
          'Reads the log from its oldest entry for at most 20 seconds, once at a time at each gateway. Needs the scope `audit` and the role `auditor` or `admin`. Entries are not compared with checkpoints that are kept elsewhere, and the first entries of a process may be missing: `npm run audit -- verify` checks both.',
        response: { 200: jsonAnswer('The result.', Verified), ...faults(400, 404, 429, 503) },
      },
    },
    async (_, reply) => {
      checkOn(audit)
      if (isVerifying)
        throw new BusError('exhausted', 'a verification runs already; try again in a moment')
      isVerifying = true
      const left = new AbortController()
      reply.raw.once('close', () => left.abort())
      try {
        const { faults: found, ...result } = await verifyAudit(bus, left.signal)
        return { ...result, faults: [...found] }
      } finally {
        isVerifying = false
      }
    },
  )
}

function checkOn({ isOn }: Pick<GatewayAudit, 'isOn'>): void {
  if (!isOn) throw new BusError('not-found', 'this host has no audit log; AUDIT=async adds one')
}

function isAuditor({ roles, scopes }: Principal): boolean {
  return roles.includes('auditor') && scopes.includes('audit')
}

function seesAll(principal: Principal): boolean {
  return isAuditor(principal) || (hasAdminRole(principal) && principal.scopes.includes('audit'))
}

function withoutBodies(entry: AuditEntry): AuditEntry {
  return { ...entry, arguments: undefined }
}

function toPosition(text: string): { readonly seq: number; readonly index: number } {
  const [seq = 0, index = 0] = text.split('.').map(Number)
  return { seq, index }
}
