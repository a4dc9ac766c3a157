import { APPS_EXTENSION, MetaKey } from '@mcp-host/mcp'
import { isObject } from '@mcp-host/json'
import type { JsonRpcRequest } from '../messages/classify.ts'
import type { MergedListing } from '../listing/merged-listing.ts'
import type { ClientSession } from './session.ts'

/**
 * What a client is told of a listing. Servers list tools for apps (MCP Apps) because the host shows apps; a client
 * that shows none would hand them to its model.
 */
export function listForClient(
  { era, params: { _meta: meta } }: JsonRpcRequest,
  session: ClientSession | undefined,
  listing: MergedListing,
): MergedListing {
  const ofRequest = isObject(meta) ? meta[MetaKey.clientCapabilities] : undefined
  const capabilities = era === 'modern' ? ofRequest : session?.capabilities
  const extensions = isObject(capabilities) ? capabilities['extensions'] : undefined
  return isObject(extensions) && Object.hasOwn(extensions, APPS_EXTENSION)
    ? listing
    : listing.forModels
}
