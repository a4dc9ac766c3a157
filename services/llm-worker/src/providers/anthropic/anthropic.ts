import { z } from 'zod'
import { failureIn } from '../definition/provider-failure.ts'
import { mapEvents } from '../definition/map-events.ts'
import type { ProviderDefinition } from '../definition/provider-definition.ts'

const Models = z.object({
  data: z.array(z.object({ id: z.string(), max_input_tokens: z.int().positive().nullish() })),
})

const KNOWN = /^(message|content_block)_(start|delta|stop)$|^ping$/

/** An event that the package knows. Vendors and gateways add types, and the package fails at an unknown first event. */
function knownEvent(event: object): object | undefined {
  if ('type' in event && KNOWN.test(String(event.type))) return event
  const failure = failureIn(event)
  if (failure === undefined) return undefined
  const { error = event } = event as { error?: unknown }
  const { type = 'api_error', message = 'no reason' } = (
    typeof error === 'string' ? { message: error } : error
  ) as { type?: unknown; message?: unknown }
  return { type: 'error', error: { ...(typeof error === 'object' ? error : {}), type, message } }
}

/** Anthropic's Claude. */
export const anthropic: ProviderDefinition = {
  title: 'Anthropic Claude',
  keyVariable: 'ANTHROPIC_API_KEY',
  baseUrl: 'https://api.anthropic.com/v1',
  defaultModel: 'claude-sonnet-5-5',
  metadataName: 'anthropic',
  contextWindow: 200_000,
  reads: ['image/', 'application/pdf'],
  // The conversation up to this point is cached, so that the next turn costs less.
  providerOptions: { anthropic: { cacheControl: { type: 'ephemeral' } } },
  async list({ baseUrl, apiKey, read }) {
    const headers = { 'x-api-key': apiKey, 'anthropic-version': '2023-06-01' }
    const { data } = await read(`${baseUrl}/models?limit=1000`, Models, { headers })
    return data.map(({ id, max_input_tokens: window }) => ({
      id,
      ...(window == null ? {} : { contextWindow: window }),
      tools: true,
      pictures: true,
    }))
  },
  connect: async ({ apiKey, baseUrl, fetch }) => {
    const { createAnthropic } = await import('@ai-sdk/anthropic')
    return createAnthropic({ apiKey, baseURL: baseUrl, fetch: mapEvents(fetch, () => knownEvent) })
  },
}
