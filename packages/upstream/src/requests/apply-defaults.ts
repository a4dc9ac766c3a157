import type { ElicitRequestParams } from '@modelcontextprotocol/client'

import { isObject } from '@mcp-host/json'

/** Adds the defaults of the requested schema to the missing fields of an accepted form. */
export function applyDefaults(params: ElicitRequestParams, answer: unknown): unknown {
  if (!isObject(answer) || answer['action'] !== 'accept') return answer
  if (!('requestedSchema' in params)) return answer
  const { properties } = params.requestedSchema
  const content = isObject(answer['content']) ? answer['content'] : {}
  const defaults = Object.entries(properties).flatMap(([name, property]) =>
    'default' in property && property.default !== undefined ? [[name, property.default]] : [],
  )
  return { ...answer, content: { ...Object.fromEntries(defaults), ...content } }
}
