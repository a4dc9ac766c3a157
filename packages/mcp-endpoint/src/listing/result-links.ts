import type { Params } from '../messages/json-rpc.ts'
import { isObject } from '@mcp-host/json'

/** Maps the URI of a resource to its name in a listing. */
type Rename = (uri: string) => string

/** The key for the page of an app in an earlier draft. */
const EARLIER_PAGE = 'ui/resourceUri'

const text = new TextDecoder()
const bytes = new TextEncoder()

/** Renames the page of an MCP app in the `_meta` of a tool or result. */
export function withPageNamed<T extends Params>(item: T, rename: Rename): T {
  const { _meta: meta } = item
  if (!isObject(meta)) return item
  const { ui, [EARLIER_PAGE]: earlier } = meta
  const page = isObject(ui) ? ui['resourceUri'] : undefined
  const named = {
    ...(isObject(ui) && typeof page === 'string' && { ui: { ...ui, resourceUri: rename(page) } }),
    ...(typeof earlier === 'string' && { [EARLIER_PAGE]: rename(earlier) }),
  }
  return Object.keys(named).length === 0 ? item : { ...item, _meta: { ...meta, ...named } }
}

/** The result of a tool or a prompt as JSON, with its links to resources renamed. */
export function renameLinks(json: Uint8Array, rename: Rename): Uint8Array {
  const result: unknown = JSON.parse(text.decode(json))
  if (!isObject(result)) return json
  const { content, messages } = result
  const renamed = {
    ...withPageNamed(result, rename),
    ...(Array.isArray(content) && { content: content.map((each) => renamedBlock(each, rename)) }),
    ...(Array.isArray(messages) && {
      messages: messages.map((each) => renamedMessage(each, rename)),
    }),
  }
  return bytes.encode(JSON.stringify(renamed))
}

function renamedMessage(message: unknown, rename: Rename): unknown {
  return isObject(message)
    ? { ...message, content: renamedBlock(message['content'], rename) }
    : message
}

function renamedBlock(block: unknown, rename: Rename): unknown {
  if (!isObject(block)) return block
  const { type, uri, resource } = block
  if (type === 'resource_link' && typeof uri === 'string') return { ...block, uri: rename(uri) }
  if (type !== 'resource' || !isObject(resource)) return block
  const { uri: own } = resource
  return typeof own === 'string' ? { ...block, resource: { ...resource, uri: rename(own) } } : block
}
