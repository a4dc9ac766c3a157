import type { Bus } from '@mcp-host/bus'
import { PrincipalId } from '@mcp-host/contracts'
import { z } from 'zod'
import { checkAccess } from '../../auth/access.ts'
import type { Authenticator } from '../../auth/authenticator.ts'
import type { Api } from '../../edge/api.ts'
import { faults, jsonAnswer } from '../../edge/api.ts'
import type { GatewayAudit } from '../../gateway-audit.ts'
import type { CheckSessionDeps } from '../../session/check-session.ts'
import { checkSession, ownerOf } from '../../session/check-session.ts'
import { SessionParams } from '../sessions/session-params.ts'
import type { Share, Shares } from './shares.ts'
import { newShare } from './shares.ts'

const MAX_DAYS = 365
const DEFAULT_DAYS = 30

const ShareAbout = z
  .object({
    id: z.string().describe('Of the link; by it the link is revoked.'),
    createdAt: z.number().describe('Epoch milliseconds.'),
    createdBy: PrincipalId.describe('The owner of the session, or an admin.'),
    expiresAt: z.number().describe('Epoch milliseconds.'),
  })
  .meta({ id: 'Share', description: 'A link by which anybody reads a session.' })

const NewShare = z.object({
  expiresInDays: z.number().int().min(1).max(MAX_DAYS).default(DEFAULT_DAYS),
})

export interface ManageSharesDeps extends CheckSessionDeps {
  readonly bus: Pick<Bus, 'clock' | 'directory' | 'sessions'>
  readonly shares: Shares
  readonly publicUrl: string
  readonly auth: Pick<Authenticator, 'makersOf'>
  readonly audit: Pick<GatewayAudit, 'shareChanged'>
}

/** Share links for the owner of a session. */
export function addManageShares(api: Api, deps: ManageSharesDeps): void {
  const { bus, shares, publicUrl, auth, audit } = deps
  const tags = ['sharing']

  api.post(
    '/session/:id/shares',
    {
      schema: {
        tags,
        operationId: 'createShare',
        summary: 'Share a session: get a link by which anybody reads it',
        description:
          'Needs the scope `decide`. The link shows the messages and files of the session, also later ones, and the answer that is being written. It changes nothing. It ends when it is revoked, when it expires and with the session.',
        params: SessionParams,
        body: NewShare.prefault({}),
        response: {
          201: jsonAnswer(
            'The link, which is shown this once.',
            ShareAbout.extend({
              url: z.string().describe('Beginning of the addresses of the shared session.'),
            }),
          ),
          ...faults(400, 404, 413, 415, 429, 503),
        },
      },
    },
    async ({ raw, params: { id: session }, body: { expiresInDays }, principal }, reply) => {
      await checkSession(deps, session, principal)
      checkAccess(principal, 'decide')
      const owner = (await ownerOf(bus, session)) ?? principal.id
      const makers = auth.makersOf(raw, principal)
      const about = { session, owner, createdBy: principal.id, makers }
      const { share, token, digest } = newShare(about, expiresInDays, bus.clock.now())
      await shares.add(share, digest, () => audit.shareChanged('share-created', principal, share))
      return reply.code(201).send({ ...toAbout(share), url: `${publicUrl}/api/shared/${token}` })
    },
  )

  api.get(
    '/session/:id/shares',
    {
      schema: {
        tags,
        operationId: 'listShares',
        summary: 'List the links of a session that can be used',
        params: SessionParams,
        response: {
          200: jsonAnswer('Without their secrets.', z.object({ shares: z.array(ShareAbout) })),
          ...faults(400, 404, 503),
        },
      },
    },
    async ({ params: { id: session }, principal }) => {
      await checkSession(deps, session, principal)
      return { shares: (await shares.list(session)).map(toAbout) }
    },
  )

  api.delete(
    '/session/:id/shares/:share',
    {
      schema: {
        tags,
        operationId: 'revokeShare',
        summary: 'Revoke a link at all gateways',
        description: 'Streams that are open by it end.',
        params: SessionParams.extend({
          share: z
            .string()
            .regex(/^[\w-]{12}$/, 'must be the id of a link')
            .describe('Of the link.'),
        }),
        response: {
          204: z.undefined().describe('It shows nothing any more.'),
          ...faults(400, 404, 503),
        },
      },
    },
    async ({ params: { id: session, share }, principal }, reply) => {
      await checkSession(deps, session, principal)
      await shares.check(session, share)
      await audit.shareChanged('share-revoked', principal, { session, id: share })
      await shares.revoke(share)
      return reply.code(204).send()
    },
  )
}

function toAbout({ id, createdAt, createdBy, expiresAt }: Share): z.infer<typeof ShareAbout> {
  return { id, createdAt, createdBy, expiresAt }
}
