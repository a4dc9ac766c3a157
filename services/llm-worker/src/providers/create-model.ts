import type { WorkerConfig } from '../config.ts'
import { jsonToolModel } from '../json-tools/json-tool-model.ts'
import type { Model } from '../model.ts'
import { retried } from '../resilience/retried.ts'
import { timed } from '../resilience/timed.ts'
import type { Provider } from '../settings/find-provider.ts'
import { aiSdkModel } from './ai-sdk/ai-sdk-model.ts'
import { systemClock } from './demo/clock.ts'
import { demoModel } from './demo/demo-model.ts'
import { providerKinds } from './kinds.ts'
import { providerFetch } from './transport.ts'

export type ModelConfig = Pick<
  WorkerConfig,
  'contextTokens' | 'demoTokensPerSecond' | 'demoScripted' | 'demoContextTokens'
>

/** One model of a provider, with patience for its failures. */
export function createModel(provider: Provider, model: string, config: ModelConfig): Model {
  if (provider.type === 'demo') {
    return demoModel(
      { clock: systemClock },
      {
        tokensPerSecond: config.demoTokensPerSecond,
        scripted: config.demoScripted,
        contextTokens: config.demoContextTokens,
      },
    )
  }
  const { timeouts, models } = provider
  const punctual = timed(connectModel(provider, model, config), timeouts)
  const hasTools = models[model]?.nativeTools ?? true
  return retried(hasTools ? punctual : jsonToolModel(punctual))
}

/** One model of a provider as it is. */
export function connectModel(
  { name, type, baseUrl, apiKey, models }: Provider,
  model: string,
  { contextTokens }: Pick<ModelConfig, 'contextTokens'>,
): Model {
  if (type === 'demo') throw new Error('the demo model is no connection')
  const { connect, providerOptions, metadataName = name, contextWindow } = providerKinds[type]
  const connection = { name, baseUrl, apiKey: apiKey?.open() ?? '', fetch: providerFetch }
  const settings = models[model] ?? {}
  return aiSdkModel(name, connect(connection)(model), {
    metadataName,
    contextWindow: settings.contextWindow ?? contextTokens ?? contextWindow,
    ...(providerOptions === undefined ? {} : { providerOptions }),
    ...(settings.maxOutputTokens === undefined
      ? {}
      : { maxOutputTokens: settings.maxOutputTokens }),
    ...(settings.temperature === undefined ? {} : { temperature: settings.temperature }),
  })
}
