import { JsonRpcCode } from '@mcp-host/mcp'
import {
  JsonRpcError,
  type MergedListing,
  type Route,
  routeRequest,
  type ServerListing,
} from '@mcp-host/mcp-endpoint'
import { RestFault } from './rest-fault.ts'

export interface RestRequest {
  readonly method: 'tools/call' | 'prompts/get' | 'resources/read'
  readonly params: { readonly name: string } | { readonly uri: string }
}

/** The server that gets a request, with the request's parameters. Throws `RestFault`. */
export function findRoute({ method, params }: RestRequest, listing: MergedListing): Route {
  const list = `/mcp/${method.split('/')[0]}/list`
  const [field, wanted] = 'name' in params ? ['name', params.name] : ['uri', params.uri]
  try {
    const route = routeRequest({ kind: 'request', era: 'legacy', id: 0, method, params }, listing)
    if (route !== undefined) return route
    throw new JsonRpcError(JsonRpcCode.resourceNotFound, `there is no "${wanted}"`)
  } catch (error) {
    if (!(error instanceof JsonRpcError)) throw error
    const { message } = error
    // Several servers list it. An unlisted resource may exist at any server.
    const isListed = ({ resources }: ServerListing): boolean =>
      resources.some(({ uri }) => uri === wanted)
    const isKnown = field === 'uri' && listing.servers.some(isListed)
    if (isKnown) throw new RestFault(400, `uri: ${message}`, { field })
    if (field === 'name') checkServer(wanted, listing)
    throw new RestFault(404, `${field}: ${message}; POST ${list} tells what there is`, { field })
  }
}

/** Throws `RestFault` for the name of a server that was never ready, since its items are unknown. */
function checkServer(name: string, listing: MergedListing): void {
  const absent = listing.absent(name)
  if (absent === undefined) return
  const { server, why, isComing } = absent
  throw new AbsentFault(why, server === undefined ? {} : { server }, isComing)
}

class AbsentFault extends RestFault {
  readonly isComing: boolean

  constructor(why: string, more: { readonly server?: string }, isComing: boolean) {
    super(503, why, more)
    this.isComing = isComing
  }
}

/** Whether a later retry may find the server of a request. */
export function mayBeListedLater(failure: unknown): boolean {
  return failure instanceof AbsentFault && failure.isComing
}
