import type { WorkerConfig } from '../config.ts'
import { chosenProvider } from '../config.ts'
import type { Model } from '../model.ts'
import { systemClock } from './demo/clock.ts'
import { demoModel } from './demo/demo-model.ts'
import { geminiModel } from './gemini.ts'

/** The model that the settings ask for. */
export function createModel(config: WorkerConfig): Model {
  const provider = chosenProvider(config)
  switch (provider) {
    case 'demo':
      return demoModel(
        { clock: systemClock },
        {
          tokensPerSecond: config.demoTokensPerSecond,
          scripted: config.demoScripted,
          contextTokens: config.demoContextTokens,
        },
      )
    case 'gemini':
      return geminiModel(config)
    default:
      return provider satisfies never
  }
}
