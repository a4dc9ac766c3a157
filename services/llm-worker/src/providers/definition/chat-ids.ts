import type { ListedModel } from '@mcp-host/contracts'
import { z } from 'zod'
import type { ListRequest } from './provider-definition.ts'

/** Models that providers list beside those for conversations. */
const NO_CHAT = /embed|rerank|whisper|tts|dall-e|moderation|transcribe|realtime|image|imagine|sora/i

const Ids = z.object({ data: z.array(z.object({ id: z.string() })) })

/** The list of OpenAI's API, which has ids only. */
export async function listChatIds({ baseUrl, apiKey, read }: ListRequest): Promise<ListedModel[]> {
  const { data } = await read(`${baseUrl}/models`, Ids, { headers: bearer(apiKey) })
  return data.filter(({ id }) => isChatId(id)).map(({ id }) => ({ id }))
}

export function isChatId(id: string): boolean {
  return !NO_CHAT.test(id)
}

export function bearer(apiKey: string): Record<string, string> {
  return apiKey === '' ? {} : { authorization: `Bearer ${apiKey}` }
}

/** Address of a local server's own API, beside the one that is like OpenAI's. */
export function nativeApi({ baseUrl }: ListRequest): string {
  return baseUrl.replace(/\/v1\/?$/, '')
}
