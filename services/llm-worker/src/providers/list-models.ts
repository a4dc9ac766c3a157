import { z } from 'zod'
import type { Provider } from '../settings/find-provider.ts'
import { providerFetch } from './transport.ts'

const List = z.object({ data: z.array(z.object({ id: z.string() })) })

/** The names of a provider's models, in the order it gives them. Throws when it does not answer. */
export async function listModels(
  { baseUrl, apiKey }: Provider,
  { signal }: { signal: AbortSignal },
): Promise<string[]> {
  const response = await providerFetch(`${baseUrl}/models`, {
    signal,
    headers: apiKey === undefined ? {} : { authorization: `Bearer ${apiKey.open()}` },
  })
  return List.parse(await response.json()).data.map(({ id }) => id)
}
