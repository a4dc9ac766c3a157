/** Fields of a request that servers may refuse, and without which it means nearly the same. */
const OPTIONAL = [
  'stream_options',
  'parallel_tool_calls',
  'tool_choice',
  'reasoning_effort',
  'strict',
] as const
type Optional = (typeof OPTIONAL)[number]

/** Limit for the fields that are left out of one request. */
const MAX_TRIES = 3

/**
 * Sends a request again without an optional field that the server's refusal names. Later requests leave it out at
 * once. For the requests of one model.
 */
export function withoutRefusedFields(fetch: typeof globalThis.fetch): typeof globalThis.fetch {
  const refused = new Set<Optional>()
  return async (input, init = {}) => {
    for (let tries = 0; ; tries++) {
      const { body } = init
      const sent = typeof body === 'string' && refused.size > 0 ? without(body, refused) : body
      const response = await fetch(input, sent === undefined ? init : { ...init, body: sent })
      const { status, statusText, headers } = response
      if (status < 400 || status >= 500 || typeof sent !== 'string') return response
      const says = await response.text()
      const named = tries < MAX_TRIES ? OPTIONAL.filter((field) => names(says, sent, field)) : []
      if (named.length === 0) return new Response(says, { status, statusText, headers })
      for (const field of named) refused.add(field)
    }
  }
}

/** Whether a refusal is about a field that was sent. */
function names(says: string, sent: string, field: Optional): boolean {
  return sent.includes(`"${field}":`) && new RegExp(`\\b${field}\\b`, 'i').test(says)
}

/** The body without these fields; `strict` is one of each tool. */
function without(body: string, fields: ReadonlySet<string>): string {
  const { tools, ...rest } = JSON.parse(body) as Record<string, unknown>
  const kept = Object.entries(rest).filter(([key]) => !fields.has(key))
  if (!Array.isArray(tools)) return JSON.stringify(Object.fromEntries(kept))
  const plain = fields.has('strict') ? tools.map(withoutStrict) : tools
  return JSON.stringify({ ...Object.fromEntries(kept), tools: plain })
}

function withoutStrict(tool: { readonly function?: object }): object {
  const { strict: _, ...definition } = { strict: undefined, ...tool.function }
  return { ...tool, function: definition }
}
