import type { IncomingMessage } from 'node:http'
import type { Principal } from '@mcp-host/contracts'
import { BusError, getSession, newEnvelope, NOBODY, sessionHistory } from '@mcp-host/contracts'
import { z } from 'zod'
import type { GatewayAudit } from '../../gateway-audit.ts'
import type { GatewayLimits } from '../../limits/gateway-limits.ts'
import type { Api } from '../../edge/api.ts'
import { faults, jsonAnswer } from '../../edge/api.ts'
import { checkDeleted } from '../../session/check-session.ts'
import type { ChatDeps } from '../chat/chat-deps.ts'
import { followHeaders, followQuery, serveSessionEvents } from '../chat/follow-events.ts'
import { streamAnswer } from '../chat/stream-session.ts'
import type { FileSender } from '../files/file-sender.ts'
import { askOrchestrator } from '../sessions/ask-orchestrator.ts'
import { MessagesPage } from '../sessions/list-messages.ts'
import { Page } from '../sessions/page.ts'
import type { Share, Shares } from './shares.ts'
import { eventWithoutNames, withoutNames } from './without-names.ts'

const SharedParams = z.object({ token: z.string().max(100).describe('The secret of the link.') })

const SharedSession = z
  .object({
    title: z.string().describe('The one a user gave it, else the beginning of its first message.'),
    createdAt: z.number().describe('Epoch milliseconds.'),
    updatedAt: z.number().describe('When something was said last, in epoch milliseconds.'),
    messages: z.number().int().describe('User messages on all branches.'),
    expiresAt: z.number().describe('When the link expires, in epoch milliseconds.'),
  })
  .meta({ id: 'SharedSession', description: 'What a share link shows of its session.' })

export interface ReadSharedDeps extends ChatDeps {
  readonly shares: Shares
  readonly files: FileSender
  readonly audit: ChatDeps['audit'] & Pick<GatewayAudit, 'shareRead'>
  readonly limits: ChatDeps['limits'] & Pick<GatewayLimits, 'addressOf'>
}

/** The routes of a share link, which need no credential. */
export function addReadShared(api: Api, deps: ReadSharedDeps): void {
  const { bus, shares, files, audit, limits } = deps
  const tags = ['sharing']
  /** Readers of links have no credential, so their address stands for them. */
  const readerOf = (raw: IncomingMessage): string => `address:${limits.addressOf(raw)}`
  /** The share of a link that is opened. `part`: the end of the route. */
  const open = async (raw: IncomingMessage, token: string, part: string): Promise<Share> => {
    const share = await shares.find(token)
    audit.shareRead(share, limits.addressOf(raw), `GET /api/shared/:token${part}`)
    return share
  }
  // The address is a secret, which no other page may learn.
  api.addHook('onRequest', async (_, reply) => void reply.header('referrer-policy', 'no-referrer'))

  api.get(
    '/shared/:token',
    {
      schema: {
        tags,
        operationId: 'getShared',
        summary: 'What a link shares',
        params: SharedParams,
        response: { 200: jsonAnswer('It.', SharedSession), ...faults(400, 404, 503, 504) },
      },
    },
    async ({ raw, params: { token } }) => {
      const share = await open(raw, token, '')
      const record = await asOwner(share, (owner) =>
        askOrchestrator(bus, getSession, { session: share.session }, newEnvelope(owner)),
      )
      const { title, createdAt, updatedAt, messages } = record
      return { title, createdAt, updatedAt, messages, expiresAt: share.expiresAt }
    },
  )

  api.get(
    '/shared/:token/messages',
    {
      schema: {
        tags,
        operationId: 'listSharedMessages',
        summary: 'What was said, as `listMessages`',
        params: SharedParams,
        querystring: Page,
        response: { 200: MessagesPage, ...faults(400, 404, 503, 504) },
      },
    },
    async ({ raw, params: { token }, query: { limit, before } }) => {
      const share = await open(raw, token, '/messages')
      const page = { session: share.session, limit, ...(before === undefined ? {} : { before }) }
      const { messages, ...rest } = await asOwner(share, (owner) =>
        askOrchestrator(bus, sessionHistory, page, newEnvelope(owner)),
      )
      return { messages: messages.map(withoutNames), ...rest }
    },
  )

  api.get(
    '/shared/:token/file/:key',
    {
      schema: {
        tags,
        operationId: 'getSharedFile',
        summary: 'Get a file of the session',
        params: SharedParams.extend({ key: z.string().describe('Of the file.') }),
        response: faults(400, 404, 429, 503),
      },
    },
    async ({ raw, params: { token, key } }, reply) => {
      const share = await open(raw, token, '/file/:key')
      const { session } = share
      // An orchestrator erases the files of a deleted session only later.
      await asOwner(share, () => checkDeleted(bus, session, 'token'))
      const over = new AbortController()
      over.signal.addEventListener('abort', () => reply.raw.destroy())
      using _watch = await shares.abortAtEnd(share, over)
      await files.send(reply, { session, key, holder: readerOf(raw) })
    },
  )

  api.get(
    '/shared/:token/events',
    {
      exposeHeadRoute: false,
      schema: {
        tags,
        operationId: 'followShared',
        summary: 'Follow the session, as `followSession`',
        params: SharedParams,
        querystring: followQuery,
        headers: followHeaders,
        response: { ...streamAnswer, ...faults(400, 404, 429) },
      },
    },
    async ({ raw, params: { token }, query, headers }, reply) => {
      limits.socket({ id: readerOf(raw) }, reply.raw)
      const share = await open(raw, token, '/events')
      const over = new AbortController()
      using _watch = await shares.abortAtEnd(share, over)
      const draining = AbortSignal.any([deps.draining, over.signal])
      const place = { query, headers, principal: ownerOf(share), shown: eventWithoutNames }
      await serveSessionEvents({ ...deps, draining }, reply, share.session, place)
    },
  )
}

/** The reader acts for the owner, without the owner's roles. */
function ownerOf({ owner }: Share): Principal {
  return { ...NOBODY, id: owner }
}

/** Sends a request in the owner's name. Errors do not reveal the id of a deleted session. */
async function asOwner<T>(share: Share, ask: (owner: Principal) => Promise<T>): Promise<T> {
  try {
    return await ask(ownerOf(share))
  } catch (error) {
    if (BusError.from(error).code !== 'not-found') throw error
    throw new BusError('not-found', 'the shared session was deleted', { cause: error })
  }
}
