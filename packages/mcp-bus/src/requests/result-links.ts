import type { Json } from './eras.ts'
import { isObject } from '@mcp-host/json'

/** Whether a result of a tool or a prompt points to resources of its server. */
export function hasLinks(result: object): boolean {
  const { content, messages, _meta: meta } = result as Json
  if (Array.isArray(content) && content.some(isLink)) return true
  if (Array.isArray(messages) && messages.some(isMessageWithLink)) return true
  return isObject(meta) && (isObject(meta['ui']) || 'ui/resourceUri' in meta)
}

function isMessageWithLink(message: unknown): boolean {
  return isObject(message) && isLink(message['content'])
}

function isLink(block: unknown): boolean {
  return isObject(block) && (block['type'] === 'resource_link' || block['type'] === 'resource')
}
