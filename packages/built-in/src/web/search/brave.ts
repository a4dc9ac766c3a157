import { z } from 'zod'

import type { Provider } from './provider.ts'

const Results = z.object({
  web: z
    .object({
      results: z.array(
        z.object({ title: z.string(), url: z.string(), description: z.string().default('') }),
      ),
    })
    .optional(),
})
const Fault = z.object({ error: z.object({ detail: z.string() }) })

/** By https://api-dashboard.search.brave.com/api-reference/web/search/get. */
export const brave: Provider = {
  url: 'https://api.search.brave.com/res/v1/',
  needsKey: true,
  request(base, key, { query, count }) {
    const url = new URL('web/search', base)
    // Without it, descriptions have tags around the words that were found.
    const parameters = { q: query, count: `${count}`, text_decorations: 'false' }
    url.search = new URLSearchParams(parameters).toString()
    return { url, init: { headers: { 'x-subscription-token': key } } }
  },
  results(body) {
    const { success, data } = Results.safeParse(body)
    if (!success) return undefined
    // Without a result, the whole part is left out.
    return (data.web?.results ?? []).map(({ description, ...result }) => ({
      ...result,
      snippet: description,
    }))
  },
  reason: (_, body) => Fault.safeParse(body).data?.error.detail,
}
