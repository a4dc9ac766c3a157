import { isObject } from '@mcp-host/json'
import type { JsonRpcRequest } from './classify.ts'
import type { MergedListing } from './merged-listing.ts'
import type { ClientSession } from './session.ts'
import { CLIENT_CAPABILITIES } from './versions.ts'

const APPS = 'io.modelcontextprotocol/ui'

/**
 * What a client is told of a listing. Servers list tools for apps (MCP Apps) because the host shows apps; a client
 * that shows none would hand them to its model.
 */
export function listForClient(
  { era, params: { _meta: meta } }: JsonRpcRequest,
  session: ClientSession | undefined,
  listing: MergedListing,
): MergedListing {
  const ofRequest = isObject(meta) ? meta[CLIENT_CAPABILITIES] : undefined
  const capabilities = era === 'modern' ? ofRequest : session?.capabilities
  const extensions = isObject(capabilities) ? capabilities['extensions'] : undefined
  return isObject(extensions) && Object.hasOwn(extensions, APPS) ? listing : listing.forModels
}
