import type { RpcRequest } from './classify.ts'
import type { Offer, Place } from './offer.ts'
import type { Params } from './rpc.ts'
import { isObject, RpcCode, RpcFault } from './rpc.ts'
import { CALL_TOOL, SEARCH_TOOLS } from './tool-search.ts'

/** A request with its place, in the words of its server. */
export interface Passage {
  readonly place: Place
  readonly params: Params
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
  return onlyOne(offer.resource(uri), uri, era)
}

/** To which server a request goes, with what; `undefined`: it is for us. Throws `RpcFault`. */
export function passageOf({ method, params, era }: RpcRequest, offer: Offer): Passage | undefined {
  switch (method) {
    case 'tools/call': {
      const name = stringOf(params, 'name')
      if (offer.toolSearch !== undefined && name === SEARCH_TOOLS) return undefined
      if (offer.toolSearch !== undefined && name === CALL_TOOL) return foundTool(params, offer)
      const place = offer.tool(name)
      if (place === undefined) throw unknown(`there is no tool "${name}"`)
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
      if (place === undefined) throw unknown(`there is no prompt "${name}"`)
      return { place, params: { ...params, name: place.name }, isReadOnly: true }
    }
    case 'resources/read': {
      const place = resourceOf({ params, era }, offer)
      return { place, params: { ...params, uri: place.name }, isReadOnly: true }
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
  const [template, ...others] = offer.template(uri)
  const place =
    template !== undefined && others.length === 0
      ? template
      : onlyOne(offer.resource(uri), uri, era)
  return { place, params: { ...params, ref: { ...ref, uri: place.name } }, isReadOnly: true }
}

function onlyOne([place, ...others]: readonly Place[], uri: string, era: RpcRequest['era']): Place {
  if (place === undefined) {
    const code = era === 'legacy' ? RpcCode.resourceNotFound : RpcCode.invalidParams
    throw new RpcFault(code, `there is no resource "${uri}"`, { data: { uri } })
  }
  if (others.length === 0) return place
  const names = [place, ...others].map(({ server }) => server).join(', ')
  const example = `mcp://${place.server}/${encodeURIComponent(uri)}`
  throw unknown(`the resource "${uri}" may be meant of ${names}: ask for one, as ${example}`)
}

function unknown(message: string): RpcFault {
  return new RpcFault(RpcCode.invalidParams, message)
}

function stringOf(params: Params, field: string): string {
  const value = params[field]
  if (typeof value === 'string') return value
  throw new RpcFault(RpcCode.invalidParams, `${field}: must be a string`)
}
