import { APICallError } from '@ai-sdk/provider'
import type { ListedModel } from '@mcp-host/contracts'
import { BusError } from '@mcp-host/contracts'
import { z } from 'zod'
import { listChatIds } from '../providers/definition/chat-ids.ts'
import { providers } from '../providers/index.ts'
import type { ListRequest } from '../providers/definition/provider-definition.ts'
import type { Provider } from '../settings/find-provider.ts'
import { toBusError, unreachable } from './ai-sdk/error.ts'
import { apiFetch } from './api-fetch.ts'
import { providerFetch } from './transport.ts'

/** The chat models of a provider, in the provider's order. Throws a `BusError` with a text for users. */
export async function listModels(
  provider: Provider,
  { signal }: { readonly signal: AbortSignal },
): Promise<ListedModel[]> {
  try {
    return await providers[provider.type].list(listRequest(provider, signal))
  } catch (error) {
    if (APICallError.isInstance(error)) {
      const known = toBusError(provider.name, error, {
        ...provider,
        apiKey: provider.apiKey?.open(),
      })
      if (known.code !== 'not-found') throw known
      throw new BusError('not-found', `${provider.name} does not list its models`, { cause: error })
    }
    if (error instanceof BusError) throw error
    const isUnexpected = error instanceof z.ZodError || error instanceof SyntaxError
    const what = isUnexpected
      ? 'lists its models in a way that is not known'
      : unreachable(error, provider.baseUrl, provider.addressSetting)
    throw new BusError('unavailable', `${provider.name} ${what}`, { cause: error })
  }
}

/** Whether a local server answers in time, by OpenAI's list, which is its fastest request. */
export async function answers(provider: Provider, timeoutMs: number): Promise<boolean> {
  const request = listRequest(provider, AbortSignal.timeout(timeoutMs))
  const models = await listChatIds(request).catch(() => [])
  return models.length > 0
}

/** The first model of a local server that holds conversations; `undefined` when none is listed in time. */
export async function firstModel(
  provider: Provider,
  timeoutMs: number,
): Promise<string | undefined> {
  const request = listRequest(provider, AbortSignal.timeout(timeoutMs))
  const [own, common] = await Promise.all([
    providers[provider.type].list(request).catch(() => undefined),
    listChatIds(request).catch(() => []),
  ])
  // Only the server's own list tells capabilities.
  return (own ?? common)[0]?.id
}

function listRequest(provider: Provider, signal: AbortSignal): ListRequest {
  const { baseUrl, apiKey } = provider
  const fetch = apiFetch(provider, providerFetch)
  return {
    baseUrl,
    apiKey: apiKey?.open() ?? '',
    async read(url, schema, init) {
      const response = await fetch(url, { ...init, signal })
      const text = await response.text()
      if (!response.ok) {
        throw new APICallError({
          message: `it answered ${response.status}`,
          url,
          requestBodyValues: {},
          statusCode: response.status,
          responseBody: text,
        })
      }
      return schema.parse(JSON.parse(text))
    },
  }
}
