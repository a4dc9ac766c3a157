import type { Caller } from '@mcp-host/contracts'
import type { Params } from '../messages/json-rpc.ts'
import type { MergedListing } from '../listing/merged-listing.ts'
import type { ItemAddress } from '../listing/server-listing.ts'
import type { Route } from './route-request.ts'
import { noResource } from './route-request.ts'
import { renameLinks } from '../listing/result-links.ts'
import { JsonRpcCode } from '@mcp-host/mcp'
import { JsonRpcError } from '../messages/json-rpc.ts'
import type { ServerReply, OutgoingRequest, Servers } from '../servers.ts'
import { MOVED } from '../servers.ts'

type About = Omit<OutgoingRequest, 'params' | 'isReadOnly' | 'isOutputWrapped' | 'isOwn'>

/** The errors of servers for a missing resource. */
const UNKNOWN = new Set<number | undefined>([
  JsonRpcCode.resourceNotFound,
  JsonRpcCode.invalidParams,
])

export interface SendRouteDeps {
  readonly servers: Pick<Servers, 'send'>
  readonly listing: MergedListing
  readonly onRead?: OnRead | undefined
}

/** Called when a request for a prompt or a resource has ended, for each server that was asked. */
export type OnRead = (
  caller: Caller | undefined,
  read: {
    readonly kind: 'prompt' | 'resource'
    readonly place: ItemAddress
    readonly params: Params
  },
  outcome: 'ok' | 'error' | 'unknown',
) => void

const READS: ReadonlyMap<string, 'prompt' | 'resource'> = new Map([
  ['prompts/get', 'prompt'],
  ['resources/read', 'resource'],
])

/**
 * Sends a request to its server. Not an async function, since most requests pass here. Throws as `Servers.send`.
 */
export function sendRoute(deps: SendRouteDeps, route: Route, about: About): Promise<ServerReply> {
  const { servers, listing, onRead } = deps
  const { place, params, isReadOnly, isOutputWrapped, others = [] } = route
  if (others.length > 0) return passInTurn(deps, route, about)
  const { server } = place
  const isOwn = listing.isOwn(server)
  const answer = servers.send(server, {
    ...about,
    params,
    isReadOnly,
    isOutputWrapped,
    isOwn,
  })
  const kind = onRead && READS.get(about.method)
  if (kind !== undefined) {
    const tell = (outcome: Parameters<OnRead>[2]): void =>
      onRead?.(about.caller, { kind, place, params }, outcome)
    answer.then(
      ({ type }) => tell(type === 'result' ? 'ok' : 'error'),
      (error: unknown) => tell(error === MOVED ? 'unknown' : 'error'),
    )
  }
  return listing.servers.length === 1
    ? answer
    : answer.then((each) => withLinks(each, listing, server))
}

/** Replaces the links of a result by the names in the listing. */
export function withLinks(
  answer: ServerReply,
  { resourceNames }: MergedListing,
  server: string,
): ServerReply {
  if (answer.hasLinks !== true) return answer
  const json = renameLinks(answer.json, (uri) => resourceNames.nameOf(server, uri))
  return { ...answer, json }
}

/** Requests a resource from several servers in turn, since any of them may have it. */
async function passInTurn(deps: SendRouteDeps, route: Route, about: About): Promise<ServerReply> {
  const { place, others = [] } = route
  let failure: ServerReply | JsonRpcError | undefined
  for (const each of [place, ...others]) {
    try {
      // The caller could resume only one of these requests.
      const alone = { ...about, isResumable: false }
      const answer = await sendRoute(deps, { ...route, place: each, others: [] }, alone)
      if (answer.type === 'result') return answer
      if (!UNKNOWN.has(answer.code)) failure ??= answer
    } catch (error) {
      const isAway = error instanceof JsonRpcError && error !== MOVED
      if (!isAway || about.signal?.aborted === true) throw error
      failure ??= error
    }
  }
  if (failure === undefined) throw noResource(place.name, about.era)
  if (failure instanceof JsonRpcError) throw failure
  return failure
}
