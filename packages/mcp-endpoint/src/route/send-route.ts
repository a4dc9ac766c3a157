import type { Caller } from '@mcp-host/contracts'
import type { Params } from '../messages/json-rpc.ts'
import type { MergedListing } from '../listing/merged-listing.ts'
import type { ItemAddress } from '../listing/server-listing.ts'
import type { Route } from './route-request.ts'
import { noResource } from './route-request.ts'
import { renameLinks } from '../listing/result-links.ts'
import { JsonRpcCode } from '@mcp-host/mcp'
import { JsonRpcError } from '../messages/json-rpc.ts'
import type { ForwardedReply, ForwardedRequest, Upstream } from '../upstream.ts'
import { MOVED } from '../upstream.ts'

type About = Omit<ForwardedRequest, 'params' | 'isReadOnly' | 'isOutputWrapped' | 'isOwn'>

/** The errors of servers for a missing resource. */
const UNKNOWN = new Set<number | undefined>([
  JsonRpcCode.resourceNotFound,
  JsonRpcCode.invalidParams,
])

export interface ForwardRouteDeps {
  readonly upstream: Pick<Upstream, 'forward'>
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
 * Forwards a request to its server. Not an async function, since most requests pass here. Throws as `Upstream.forward`.
 */
export function sendRoute(
  deps: ForwardRouteDeps,
  route: Route,
  about: About,
): Promise<ForwardedReply> {
  const { upstream, listing, onRead } = deps
  const { place, params, isReadOnly, isOutputWrapped, others = [] } = route
  if (others.length > 0) return passInTurn(deps, route, about)
  const { server } = place
  const isOwn = listing.isOwn(server)
  const forwarded = upstream.forward(server, {
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
    forwarded.then(
      ({ type }) => tell(type === 'result' ? 'ok' : 'error'),
      (error: unknown) => tell(error === MOVED ? 'unknown' : 'error'),
    )
  }
  return listing.servers.length === 1
    ? forwarded
    : forwarded.then((each) => withLinks(each, listing, server))
}

/** Replaces the links of a result by the names in the listing. */
export function withLinks(
  forwarded: ForwardedReply,
  { resourceNames }: MergedListing,
  server: string,
): ForwardedReply {
  if (forwarded.hasLinks !== true) return forwarded
  const json = renameLinks(forwarded.json, (uri) => resourceNames.nameOf(server, uri))
  return { ...forwarded, json }
}

/** Requests a resource from several servers in turn, since any of them may have it. */
async function passInTurn(
  deps: ForwardRouteDeps,
  route: Route,
  about: About,
): Promise<ForwardedReply> {
  const { place, others = [] } = route
  let failure: ForwardedReply | JsonRpcError | undefined
  for (const each of [place, ...others]) {
    try {
      // The caller could resume only one of these requests.
      const alone = { ...about, isResumable: false }
      const forwarded = await sendRoute(deps, { ...route, place: each, others: [] }, alone)
      if (forwarded.type === 'result') return forwarded
      if (!UNKNOWN.has(forwarded.code)) failure ??= forwarded
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
