import { z } from 'zod'
import { bearer, isChatId, nativeApi } from '../definition/chat-ids.ts'
import { connectCompatible } from '../openai-compatible/openai-compatible.ts'
import type { ProviderDefinition } from '../definition/provider-definition.ts'

const Tags = z.object({ models: z.array(z.object({ model: z.string() })) })
const Model = z.object({ capabilities: z.array(z.string()).optional() })

/** Ollama. */
export const ollama: ProviderDefinition = {
  title: 'Ollama',
  baseUrl: 'http://127.0.0.1:11434/v1',
  isLocal: true,
  // Ollama's own default.
  contextWindow: 4_096,
  truncatesSilently: true,
  hasThinkTags: true,
  reads: ['image/'],
  async list(request) {
    const { apiKey, read } = request
    const base = nativeApi(request)
    const headers = bearer(apiKey)
    const { models } = await read(`${base}/api/tags`, Tags, { headers })
    const listed = await Promise.all(
      models.map(async ({ model: id }) => {
        const init = { headers, method: 'POST', body: JSON.stringify({ model: id }) }
        const shown = await read(`${base}/api/show`, Model, init).catch(() => undefined)
        const can = shown?.capabilities
        // Older versions do not tell capabilities.
        if (can === undefined) return isChatId(id) ? [{ id }] : []
        if (!can.includes('completion')) return []
        return [{ id, tools: can.includes('tools'), pictures: can.includes('vision') }]
      }),
    )
    return listed.flat()
  },
  connect: connectCompatible,
}
