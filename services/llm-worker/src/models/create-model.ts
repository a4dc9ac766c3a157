import type { LanguageModelV4 } from '@ai-sdk/provider'
import { BusError, ownValue } from '@mcp-host/contracts'
import { budgeted } from '../budget/budgeted.ts'
import type { Budgets } from '../budget/budgets.ts'
import type { WorkerConfig } from '../config.ts'
import { jsonToolModel } from '../json-tools/json-tool-model.ts'
import type { Model } from '../model.ts'
import { systemClock } from '../providers/demo/clock.ts'
import { demoModel } from '../providers/demo/demo-model.ts'
import { providers } from '../providers/index.ts'
import { retried } from '../resilience/retried.ts'
import { withAnswer } from '../resilience/with-answer.ts'
import { timed } from '../resilience/timed.ts'
import type { Provider } from '../settings/find-provider.ts'
import { estimateTokens } from '../usage.ts'
import { aiSdkModel } from './ai-sdk/ai-sdk-model.ts'
import { apiFetch } from './api-fetch.ts'
import { estimated } from './estimated.ts'
import { priced } from './priced.ts'
import { replayModel } from './trace/replay-model.ts'
import { withThinkTags } from './think-tags.ts'
import { providerFetch } from './transport.ts'

export type ModelConfig = Pick<
  WorkerConfig,
  'contextTokens' | 'demoTokensPerSecond' | 'demoScripted' | 'demoContextTokens' | 'demoReplay'
>

export interface ModelDeps {
  readonly config: ModelConfig
  readonly budgets: Pick<Budgets, 'enter'>
  /** How a user gets a real model instead of the demo model, in a sentence. */
  readonly realModelHint: string
}

/** One model of a provider, with retries, time limits and the provider's budget. */
export function createModel(
  { config, budgets, realModelHint }: ModelDeps,
  provider: Provider,
  model: string,
): Model {
  const { type, timeouts = {}, limits, models } = provider
  const { nativeTools = true, prices } = ownValue(models, model) ?? {}
  const budget = { budgets, limits, patienceMs: timeouts.queue }
  const within = (each: Model): Model => budgeted(priced(estimated(each), prices), budget)
  if (type === 'demo') return within(createDemo(config, realModelHint))
  const spoken = connectModel(provider, model, config)
  const asked = within(
    timed(providers[type].truncatesSilently === true ? limited(spoken) : spoken, timeouts),
  )
  const answering = providers[type].hasThinkTags === true ? withThinkTags(asked) : asked
  return withAnswer(retried(nativeTools ? answering : jsonToolModel(answering)))
}

function createDemo(config: ModelConfig, realModelHint: string): Model {
  if (config.demoReplay !== undefined) {
    const isFast = config.demoTokensPerSecond === 0
    return replayModel({ clock: systemClock, path: config.demoReplay, isFast })
  }
  return demoModel(
    { clock: systemClock },
    {
      tokensPerSecond: config.demoTokensPerSecond,
      scripted: config.demoScripted,
      contextTokens: config.demoContextTokens,
      realModelHint,
    },
  )
}

/** A model that refuses requests that exceed the context window, for providers that cut them off silently. */
function limited(model: Model): Model {
  const { provider, contextWindow = Infinity } = model
  return {
    ...model,
    stream(request, options) {
      const tokens = estimateTokens(request)
      if (tokens <= contextWindow) return model.stream(request, options)
      const message = `the conversation has about ${tokens} tokens, more than the ${contextWindow} that ${provider} is set to take`
      throw new BusError('invalid', message, { reason: 'context-overflow' })
    },
  }
}

/** One model of a provider, without retries and limits. */
export function connectModel(
  provider: Provider,
  model: string,
  { contextTokens }: Pick<ModelConfig, 'contextTokens'>,
): Model {
  const { name, type, baseUrl, apiKey, models, keySetting, addressSetting } = provider
  const { connect, providerOptions, metadataName = name, contextWindow, reads } = providers[type]
  if (connect === undefined) throw new Error(`${type} has no connection`)
  const fetch = apiFetch(provider, providerFetch)
  const connection = { name, baseUrl, apiKey: apiKey?.open() ?? '', fetch }
  const settings = ownValue(models, model) ?? {}
  const language = async (): Promise<LanguageModelV4> => (await connect(connection))(model)
  return aiSdkModel(name, model, language, {
    metadataName,
    reads,
    failureContext: { keySetting, addressSetting, apiKey: connection.apiKey },
    contextWindow: settings.contextWindow ?? contextTokens ?? contextWindow,
    ...(providerOptions === undefined ? {} : { providerOptions }),
    ...(settings.maxOutputTokens === undefined
      ? {}
      : { maxOutputTokens: settings.maxOutputTokens }),
    ...(settings.temperature === undefined ? {} : { temperature: settings.temperature }),
  })
}
