import { z } from 'zod'

import type { Provider } from './provider.ts'

const Results = z.object({
  results: z.array(z.object({ title: z.string(), url: z.string(), content: z.string().nullish() })),
})

/** By https://docs.searxng.org/dev/search_api.html. It has neither keys nor a number of results. */
export const searxng: Provider = {
  url: undefined,
  needsKey: false,
  request(base, _, { query }) {
    const url = new URL('search', base)
    url.search = new URLSearchParams({ q: query, format: 'json' }).toString()
    return { url, init: {} }
  },
  results(body) {
    const { success, data } = Results.safeParse(body)
    if (!success) return undefined
    return data.results.map(({ content, ...result }) => ({ ...result, snippet: content ?? '' }))
  },
  reason: (status) =>
    status === 403 ? 'its settings.yml must list json in search.formats' : undefined,
}
