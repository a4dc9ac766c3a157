import type { ElicitRequestParams } from '@modelcontextprotocol/client'

/** Fills what an accepted form left out from the defaults of the schema that was asked for. */
export function applyDefaults(params: ElicitRequestParams, answer: unknown): unknown {
  if (!isObject(answer) || answer['action'] !== 'accept') return answer
  if (!('requestedSchema' in params)) return answer
  const { properties } = params.requestedSchema
  const given = isObject(answer['content']) ? answer['content'] : {}
  const defaults = Object.entries(properties).flatMap(([name, property]) =>
    'default' in property && property.default !== undefined ? [[name, property.default]] : [],
  )
  return { ...answer, content: { ...Object.fromEntries(defaults), ...given } }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
