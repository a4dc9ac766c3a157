import type { JsonRpcRequest } from '../messages/classify.ts'
import { JsonRpcCode, qualifyUri } from '@mcp-host/mcp'
import type { MergedListing } from '../listing/merged-listing.ts'
import type { ItemAddress } from '../listing/server-listing.ts'
import type { Params } from '../messages/json-rpc.ts'
import { isObject } from '@mcp-host/json'
import { JsonRpcError } from '../messages/json-rpc.ts'
import { CALL_TOOL, SEARCH_TOOLS } from '../listing/tool-search.ts'

/** The server that gets a request, with the request in the server's names. */
export interface Route {
  readonly place: ItemAddress
  readonly params: Params
  /** Further servers that may have the resource, to be asked in turn. */
  readonly others?: readonly ItemAddress[]
  /** Whether it changes nothing at the server. */
  readonly isReadOnly: boolean
  /** Whether a legacy caller gets the output as `{ result: … }`. */
  readonly isOutputWrapped?: boolean
}

/** The only server that has a resource. Throws `JsonRpcError`. */
export function routeResource(
  { params, era }: Pick<JsonRpcRequest, 'params' | 'era'>,
  listing: MergedListing,
): ItemAddress {
  const uri = stringOf(params, 'uri')
  return onlyOne(listing.resourceNames.find(uri), uri, era)
}

/** The server and parameters of a request; `undefined` when the gateway answers it. Throws `JsonRpcError`. */
export function routeRequest(
  { method, params, era }: JsonRpcRequest,
  listing: MergedListing,
): Route | undefined {
  switch (method) {
    case 'tools/call': {
      const name = stringOf(params, 'name')
      if (listing.toolSearch !== undefined && name === SEARCH_TOOLS) return undefined
      if (listing.toolSearch !== undefined && name === CALL_TOOL) return foundTool(params, listing)
      const place = listing.tool(name)
      if (place === undefined) throw absent('tool', name, listing)
      return {
        place,
        params: { ...params, name: place.name },
        isReadOnly: listing.isReadOnly(name),
        isOutputWrapped: listing.isOutputWrapped(name),
      }
    }
    case 'prompts/get': {
      const name = stringOf(params, 'name')
      const place = listing.prompt(name)
      if (place === undefined) throw absent('prompt', name, listing)
      return { place, params: { ...params, name: place.name }, isReadOnly: true }
    }
    case 'resources/read': {
      const uri = stringOf(params, 'uri')
      const [place, ...others] = listing.resourceNames.find(uri)
      if (place === undefined) throw noResource(uri, era)
      // Several servers list the URI, and none can be preferred.
      if (listing.resourceNames.isListed(uri)) onlyOne([place, ...others], uri, era)
      return { place, others, params: { ...params, uri: place.name }, isReadOnly: true }
    }
    case 'completion/complete':
      return completionOf(params, listing, era)
    default:
      return undefined
  }
}

/** The route of the tool that `call_tool` names; `undefined` when there is no such tool. */
function foundTool(
  { arguments: args, ...params }: Params,
  listing: MergedListing,
): Route | undefined {
  const { name, arguments: given = {} } = isObject(args) ? args : {}
  const place = typeof name === 'string' ? listing.tool(name) : undefined
  if (place === undefined) return undefined
  return {
    place,
    params: { ...params, name: place.name, arguments: given },
    isReadOnly: listing.isReadOnly(String(name)),
    isOutputWrapped: listing.isOutputWrapped(String(name)),
  }
}

function completionOf(params: Params, listing: MergedListing, era: JsonRpcRequest['era']): Route {
  const { ref } = params
  if (!isObject(ref)) throw unknown('ref: must be an object')
  if (ref['type'] === 'ref/prompt') {
    const name = stringOf(ref, 'name')
    const place = listing.prompt(name)
    if (place === undefined) throw unknown(`there is no prompt "${name}"`)
    return { place, params: { ...params, ref: { ...ref, name: place.name } }, isReadOnly: true }
  }
  if (ref['type'] !== 'ref/resource') throw unknown('ref.type: must be ref/prompt or ref/resource')
  const uri = stringOf(ref, 'uri')
  const [template, ...others] = listing.resourceNames.findTemplate(uri)
  const place =
    template !== undefined && others.length === 0
      ? template
      : onlyOne(listing.resourceNames.find(uri), uri, era)
  return { place, params: { ...params, ref: { ...ref, uri: place.name } }, isReadOnly: true }
}

function onlyOne(
  [place, ...others]: readonly ItemAddress[],
  uri: string,
  era: JsonRpcRequest['era'],
): ItemAddress {
  if (place === undefined) throw noResource(uri, era)
  if (others.length === 0) return place
  const names = [place, ...others].map(({ server }) => server).join(', ')
  const example = qualifyUri(place.server, uri)
  throw unknown(
    `the resource "${uri}" is ambiguous, since ${names} may have it; name one, as in ${example}`,
  )
}

/** The error for a resource that no server has. */
export function noResource(uri: string, era: JsonRpcRequest['era']): JsonRpcError {
  const code = era === 'legacy' ? JsonRpcCode.resourceNotFound : JsonRpcCode.invalidParams
  return new JsonRpcError(code, `there is no resource "${uri}"`, { data: { uri } })
}

function absent(kind: 'tool' | 'prompt', name: string, listing: MergedListing): JsonRpcError {
  const found = listing.absent(name)
  if (found === undefined) return unknown(`there is no ${kind} "${name}"`)
  const message = `there is no ${kind} "${name}" now: ${found.why}`
  return new AbsentServerError(message, found.isComing)
}

/** The error for an item of a server that is not available. */
export class AbsentServerError extends JsonRpcError {
  /** Whether the server is expected soon. */
  readonly isComing: boolean

  constructor(message: string, isComing: boolean) {
    super(JsonRpcCode.unavailable, message, { data: { reason: 'unavailable', retryable: true } })
    this.isComing = isComing
  }
}

export function mayBeListedLater(failure: unknown): boolean {
  return failure instanceof AbsentServerError && failure.isComing
}

function unknown(message: string): JsonRpcError {
  return new JsonRpcError(JsonRpcCode.invalidParams, message)
}

function stringOf(params: Params, field: string): string {
  const value = params[field]
  if (typeof value === 'string') return value
  throw new JsonRpcError(JsonRpcCode.invalidParams, `${field}: must be a string`)
}
