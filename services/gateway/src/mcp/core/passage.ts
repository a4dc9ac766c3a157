import type { RpcRequest } from './classify.ts'
import { qualifyUri } from 'mcp-host/routing'
import type { Offer, Place } from './offer.ts'
import type { Params } from './rpc.ts'
import { isObject, RpcCode, RpcFault } from './rpc.ts'
import { CALL_TOOL, SEARCH_TOOLS } from './tool-search.ts'

/** A request with its place, in the words of its server. */
export interface Passage {
  readonly place: Place
  readonly params: Params
  /** Further servers that may have the resource: to be asked one after another. */
  readonly others?: readonly Place[]
  /** Whether it changes nothing at the server. */
  readonly isReadOnly: boolean
  /** Whether a caller of the older protocol knows its output as `{ result: … }`. */
  readonly isOutputWrapped?: boolean
}

/** The one server that has a resource. Throws `RpcFault`. */
export function resourceOf(
  { params, era }: Pick<RpcRequest, 'params' | 'era'>,
  offer: Offer,
): Place {
  const uri = stringOf(params, 'uri')
  return onlyOne(offer.resourceNames.find(uri), uri, era)
}

/** To which server a request goes, with what; `undefined`: it is for us. Throws `RpcFault`. */
export function passageOf({ method, params, era }: RpcRequest, offer: Offer): Passage | undefined {
  switch (method) {
    case 'tools/call': {
      const name = stringOf(params, 'name')
      if (offer.toolSearch !== undefined && name === SEARCH_TOOLS) return undefined
      if (offer.toolSearch !== undefined && name === CALL_TOOL) return foundTool(params, offer)
      const place = offer.tool(name)
      if (place === undefined) throw absent('tool', name, offer)
      return {
        place,
        params: { ...params, name: place.name },
        isReadOnly: offer.isReadOnly(name),
        isOutputWrapped: offer.isOutputWrapped(name),
      }
    }
    case 'prompts/get': {
      const name = stringOf(params, 'name')
      const place = offer.prompt(name)
      if (place === undefined) throw absent('prompt', name, offer)
      return { place, params: { ...params, name: place.name }, isReadOnly: true }
    }
    case 'resources/read': {
      const uri = stringOf(params, 'uri')
      const [place, ...others] = offer.resourceNames.find(uri)
      if (place === undefined) throw noResource(uri, era)
      // One of several that list it is not as good as the other.
      if (offer.resourceNames.isListed(uri)) onlyOne([place, ...others], uri, era)
      return { place, others, params: { ...params, uri: place.name }, isReadOnly: true }
    }
    case 'completion/complete':
      return completionOf(params, offer, era)
    default:
      return undefined
  }
}

/** A call of what was found by a search; `undefined`: it is of no tool. */
function foundTool({ arguments: args, ...params }: Params, offer: Offer): Passage | undefined {
  const { name, arguments: given = {} } = isObject(args) ? args : {}
  const place = typeof name === 'string' ? offer.tool(name) : undefined
  if (place === undefined) return undefined
  return {
    place,
    params: { ...params, name: place.name, arguments: given },
    isReadOnly: offer.isReadOnly(String(name)),
    isOutputWrapped: offer.isOutputWrapped(String(name)),
  }
}

function completionOf(params: Params, offer: Offer, era: RpcRequest['era']): Passage {
  const { ref } = params
  if (!isObject(ref)) throw unknown('ref: must be an object')
  if (ref['type'] === 'ref/prompt') {
    const name = stringOf(ref, 'name')
    const place = offer.prompt(name)
    if (place === undefined) throw unknown(`there is no prompt "${name}"`)
    return { place, params: { ...params, ref: { ...ref, name: place.name } }, isReadOnly: true }
  }
  if (ref['type'] !== 'ref/resource') throw unknown('ref.type: must be ref/prompt or ref/resource')
  const uri = stringOf(ref, 'uri')
  const [template, ...others] = offer.resourceNames.findTemplate(uri)
  const place =
    template !== undefined && others.length === 0
      ? template
      : onlyOne(offer.resourceNames.find(uri), uri, era)
  return { place, params: { ...params, ref: { ...ref, uri: place.name } }, isReadOnly: true }
}

function onlyOne([place, ...others]: readonly Place[], uri: string, era: RpcRequest['era']): Place {
  if (place === undefined) throw noResource(uri, era)
  if (others.length === 0) return place
  const names = [place, ...others].map(({ server }) => server).join(', ')
  const example = qualifyUri(place.server, uri)
  throw unknown(`the resource "${uri}" may be meant of ${names}: ask for one, as ${example}`)
}

/** Nobody has a resource. */
export function noResource(uri: string, era: RpcRequest['era']): RpcFault {
  const code = era === 'legacy' ? RpcCode.resourceNotFound : RpcCode.invalidParams
  return new RpcFault(code, `there is no resource "${uri}"`, { data: { uri } })
}

function absent(kind: 'tool' | 'prompt', name: string, offer: Offer): RpcFault {
  const found = offer.absent(name)
  if (found === undefined) return unknown(`there is no ${kind} "${name}"`)
  const message = `there is no ${kind} "${name}" now: ${found.why}`
  return new AbsentServerFault(message, found.isComing)
}

/** What a request is about belongs to a server that is not there. */
export class AbsentServerFault extends RpcFault {
  /** Whether it is worth waiting for. */
  readonly isComing: boolean

  constructor(message: string, isComing: boolean) {
    super(RpcCode.unavailable, message, { data: { reason: 'unavailable', retryable: true } })
    this.isComing = isComing
  }
}

export function mayBeOffered(failure: unknown): boolean {
  return failure instanceof AbsentServerFault && failure.isComing
}

function unknown(message: string): RpcFault {
  return new RpcFault(RpcCode.invalidParams, message)
}

function stringOf(params: Params, field: string): string {
  const value = params[field]
  if (typeof value === 'string') return value
  throw new RpcFault(RpcCode.invalidParams, `${field}: must be a string`)
}
