import type { LanguageModelV4Usage } from '@ai-sdk/provider'
import type { Usage } from '@mcp-host/contracts'

export function toUsage({ inputTokens, outputTokens }: LanguageModelV4Usage): Usage {
  return {
    ...(inputTokens.total === undefined ? {} : { inputTokens: inputTokens.total }),
    ...(inputTokens.cacheRead === undefined ? {} : { cachedInputTokens: inputTokens.cacheRead }),
    ...(outputTokens.total === undefined ? {} : { outputTokens: outputTokens.total }),
    ...(outputTokens.reasoning === undefined ? {} : { reasoningTokens: outputTokens.reasoning }),
  }
}
