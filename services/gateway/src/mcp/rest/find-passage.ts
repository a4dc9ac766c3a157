import type { CatalogEntry } from '@mcp-host/contracts'
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
  entries: Iterable<CatalogEntry>,
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
    if (field === 'name') checkServer(wanted, entries)
    throw new RestFault(404, `${field}: ${message}; POST ${list} tells what there is`, { field })
  }
}

/** What a server has is known only when it was ready. Throws `RestFault` where a name is of one that is not. */
function checkServer(name: string, entries: Iterable<CatalogEntry>): void {
  const absent = absentServer(name, entries)
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

/** Whether a request is worth waiting for its server. */
export function mayBeOffered(failure: unknown): boolean {
  return failure instanceof AbsentFault && failure.isComing
}
