import type { OfferedTool } from '@mcp-host/contracts'

/** The largest length of a description, in UTF-16 units. */
const MAX_LENGTH = 80
const TEXTS: ReadonlySet<string> = new Set(['title', 'description', '$comment'])
/** Keywords that hold values, not schemas. */
const VALUES: ReadonlySet<string> = new Set(['default', 'const', 'enum', 'required'])

type Json = OfferedTool['inputSchema'][string]

/** Shortens the descriptions of a tool and its parameters, and removes examples. */
export function shortenTool({ description, inputSchema, ...tool }: OfferedTool): OfferedTool {
  return {
    ...tool,
    ...(description === undefined ? {} : { description: cut(description) }),
    inputSchema: shortenSchema(inputSchema) as OfferedTool['inputSchema'],
  }
}

function shortenSchema(schema: Json): Json {
  if (Array.isArray(schema)) return schema.map(shortenSchema)
  if (typeof schema !== 'object' || schema === null) return schema
  const entries = Object.entries(schema).flatMap(([key, value]): [string, Json][] => {
    if (key === 'examples' && Array.isArray(value)) return []
    if (TEXTS.has(key) && typeof value === 'string') return [[key, cut(value)]]
    return [[key, VALUES.has(key) ? value : shortenSchema(value)]]
  })
  return Object.fromEntries(entries)
}

function cut(text: string): string {
  return text.length <= MAX_LENGTH ? text : `${text.slice(0, MAX_LENGTH - 1).toWellFormed()}…`
}
