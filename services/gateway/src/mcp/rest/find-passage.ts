import type { ServerView } from '@mcp-host/contracts'
import { absentServer } from '../absent-server.ts'
import type { Offer, Offering } from '../core/offer.ts'
import type { Passage } from '../core/passage.ts'
import { passageOf } from '../core/passage.ts'
import { RpcCode, RpcFault } from '../core/rpc.ts'
import { RestFault } from './rest-fault.ts'

export interface RestRequest {
  readonly method: 'tools/call' | 'prompts/get' | 'resources/read'
  readonly params: { readonly name: string } | { readonly uri: string }
}

/** To which server a request goes, with what. Throws `RestFault`. */
export function findPassage(
  { method, params }: RestRequest,
  offer: Offer,
  servers: () => readonly ServerView[],
): Passage {
  const list = `/mcp/${method.split('/')[0]}/list`
  const [field, wanted] = 'name' in params ? ['name', params.name] : ['uri', params.uri]
  try {
    const passage = passageOf({ kind: 'request', era: 'legacy', id: 0, method, params }, offer)
    if (passage !== undefined) return passage
    throw new RpcFault(RpcCode.resourceNotFound, `there is no "${wanted}"`)
  } catch (error) {
    if (!(error instanceof RpcFault)) throw error
    const { message } = error
    // More than one server lists it. What nobody lists may still be there, but who knows where.
    const isListed = ({ resources }: Offering): boolean =>
      resources.some(({ uri }) => uri === wanted)
    const isKnown = field === 'uri' && offer.offerings.some(isListed)
    if (isKnown) throw new RestFault(400, `uri: ${message}`, { field })
    if (field === 'name') checkServer(wanted, servers())
    throw new RestFault(404, `${field}: ${message}; POST ${list} tells what there is`, { field })
  }
}

/** What a server has is known only when it was ready. Throws `RestFault` where a name is of one that is not. */
function checkServer(name: string, servers: readonly ServerView[]): void {
  const absent = absentServer(name, servers)
  if (absent === undefined) return
  const { server, why } = absent
  throw new RestFault(503, why, { server })
}
