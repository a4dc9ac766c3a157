import { BusError } from '@mcp-host/contracts'
import { addressRemedy, shownAddress } from './ai-sdk/error.ts'
import { providers } from '../providers/index.ts'
import type { Provider } from '../settings/find-provider.ts'

/** The end of most addresses of APIs. */
const USUAL_END = '/v1'

/**
 * A `fetch` for the API of a provider. Where its address names no version, a request that finds no API is sent once more
 * below the usual end, as `/v1`, and the later ones at once. A web page in place of an answer fails with a text for users.
 */
export function apiFetch(
  {
    name,
    type,
    baseUrl,
    addressSetting,
  }: Pick<Provider, 'name' | 'type' | 'baseUrl' | 'addressSetting'>,
  fetch: typeof globalThis.fetch,
): typeof globalThis.fetch {
  const end = /\/v\d[^/]*$/.exec(providers[type].baseUrl ?? '')?.[0] ?? USUAL_END
  const isWhole = /\/v\d/.test(baseUrl)
  let isBelow = false
  const ask = async (url: string, init?: RequestInit): Promise<Response> => {
    const below = `${baseUrl}${end}${url.slice(baseUrl.length)}`
    const first = await fetch(isBelow ? below : url, init)
    if (isWhole || isBelow || !isNoApi(first)) return first
    const second = await fetch(below, init)
    const isThere = !isNoApi(second)
    isBelow ||= isThere
    await (isThere ? first : second).body?.cancel()
    return isThere ? second : first
  }
  return async (input, init) => {
    // The packages of providers pass addresses as texts.
    const url = input as string
    const response = await ask(url, init)
    if (!response.ok || !isPage(response)) return response
    await response.body?.cancel()
    const message = `${name} answered with a web page, not as an API, at ${shownAddress(url)}; ${addressRemedy(addressSetting)}`
    throw new BusError('not-found', message)
  }
}

/** Whether an answer is not that of an API, or about a model that the API does not have. */
function isNoApi(response: Response): boolean {
  return response.status === 404 || response.status === 405 || (response.ok && isPage(response))
}

function isPage({ headers }: Response): boolean {
  return /^text\/html\b/i.test(headers.get('content-type') ?? '')
}
