import type { HostModels, KnownModel, ModelAnswer, Question } from '@mcp-host/built-in/llm'
import type { Bus, CatalogView } from '@mcp-host/bus'
import type { CatalogEntry } from '@mcp-host/contracts'
import { askForReply, currentCall } from '@mcp-host/mcp-bus/serve'

/** The time limit for an answer that no caller limits. */
const LIMIT_MS = 600_000

interface HostModelsDeps {
  readonly bus: Bus
  readonly catalog: Pick<CatalogView, 'entries'>
}

/** The models of the workers, for the built-in server `llm`. */
export function hostModels({ bus, catalog }: HostModelsDeps): HostModels {
  return {
    list: () => knownModels(Array.from(catalog.entries.values())),
    ask: (question, signal) => ask(bus, question, signal),
  }
}

async function ask(
  bus: Bus,
  { model, systemPrompt, messages, temperature, maxTokens }: Question,
  over: AbortSignal,
): Promise<ModelAnswer> {
  const { envelope, usage: taken = [] } = currentCall()
  const request = {
    messages: messages.map(({ role, text }) => {
      return { role, content: { type: 'text' as const, text } }
    }),
    temperature,
    maxTokens,
    ...(model === undefined ? {} : { model }),
    ...(systemPrompt === undefined ? {} : { systemPrompt }),
  }
  const asker = { envelope, usage: taken, over, limitMs: LIMIT_MS }
  const {
    content,
    provider,
    model: answered,
    stopReason,
    usage,
  } = await askForReply({ bus }, asker, request)
  const { inputTokens, outputTokens } = usage ?? {}
  return {
    model: provider === undefined ? answered : `${provider}/${answered}`,
    text: content.text,
    stopReason,
    ...(inputTokens === undefined || outputTokens === undefined
      ? {}
      : { usage: { inputTokens, outputTokens } }),
  }
}

function knownModels(entries: readonly CatalogEntry[]): KnownModel[] {
  const standard = entries.find((entry) => entry.kind === 'model')
  const present = standard?.providers
  return entries.flatMap((entry) => {
    if (entry.kind !== 'provider' || entry.state !== 'ready') return []
    const { provider, models } = entry
    if (present?.includes(provider) === false) return []
    return models.map(({ id, contextWindow = entry.contextWindow }) => ({
      id: `${provider}/${id}`,
      provider,
      ...(contextWindow === undefined ? {} : { contextWindow }),
      isDefault: standard?.provider === provider && standard.model === id,
    }))
  })
}
