import { z } from 'zod'

import type { Provider } from './provider.ts'

const Results = z.object({
  results: z.array(
    z.object({ title: z.string(), url: z.string(), content: z.string().default('') }),
  ),
})
const Fault = z.object({ detail: z.union([z.string(), z.object({ error: z.string() })]) })

/** By https://docs.tavily.com/documentation/api-reference/endpoint/search. */
export const tavily: Provider = {
  url: 'https://api.tavily.com/',
  needsKey: true,
  request(base, key, { query, count }) {
    return {
      url: new URL('search', base),
      init: {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ query, max_results: count }),
      },
    }
  },
  results(body) {
    const { success, data } = Results.safeParse(body)
    if (!success) return undefined
    return data.results.map(({ content, ...result }) => ({ ...result, snippet: content }))
  },
  reason(_, body) {
    const detail = Fault.safeParse(body).data?.detail
    return typeof detail === 'object' ? detail.error : detail
  },
}
