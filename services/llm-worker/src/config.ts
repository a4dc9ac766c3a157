import type { Config, CrossCheck } from '@mcp-host/service'
import { setting, values } from '@mcp-host/service'
import { z } from 'zod'

/** Settings of the model workers. */
export const workerSettings = {
  provider: setting({
    env: 'LLM_PROVIDER',
    schema: z.enum(['gemini', 'demo'], { error: 'must be one of gemini, demo' }).optional(),
    describe: 'Who answers. Without it: gemini when its key is set, else the built-in demo model.',
  }),
  model: setting({
    env: 'LLM_MODEL',
    schema: values.text.optional(),
    describe: "The provider's name of the model. Default for gemini: gemini-flash-latest.",
  }),
  contextTokens: setting({
    env: 'LLM_CONTEXT_TOKENS',
    schema: values.integer(1_000, 100_000_000).optional(),
    describe:
      'How many tokens of conversation and answer the model takes at most. Default for gemini: 1048576.',
  }),
  maxGenerations: setting({
    env: 'MAX_GENERATIONS',
    schema: values.integer(1, 100_000),
    default: '200',
    describe: 'A worker that runs so many generations takes no more until one has ended.',
  }),
  geminiApiKey: setting({
    env: 'GEMINI_API_KEY',
    schema: values.secret.optional(),
    describe: 'Key for Gemini.',
    isSecret: true,
  }),
  geminiBaseUrl: setting({
    env: 'GEMINI_BASE_URL',
    schema: values.url.optional(),
    describe: 'Where Gemini is reached, when it is not at its own address.',
  }),
  demoTokensPerSecond: setting({
    env: 'DEMO_TOKENS_PER_SECOND',
    schema: values.integer(0, 1_000_000),
    default: '60',
    describe: 'How fast the demo model writes; 0 is as fast as it can.',
  }),
  demoContextTokens: setting({
    env: 'DEMO_CONTEXT_TOKENS',
    schema: values.integer(1, 100_000_000),
    default: '32768',
    describe: 'How many tokens of conversation and answer the demo model takes at most.',
  }),
  demoScripted: setting({
    env: 'DEMO_SCRIPTED',
    schema: z.stringbool({ error: 'must be true or false' }),
    default: 'false',
    describe:
      'Lets a message that is a script tell the demo model what to answer (for load tests).',
  }),
}

export type WorkerConfig = Config<typeof workerSettings>

export const checkWorkerSettings: CrossCheck<typeof workerSettings> = (config) => {
  const problems: string[] = []
  if (config.provider === 'gemini' && config.geminiApiKey === undefined) {
    problems.push('LLM_PROVIDER=gemini needs GEMINI_API_KEY to be set')
  }
  if (config.model !== undefined && chosenProvider(config) === 'demo') {
    problems.push(
      'LLM_MODEL has no effect on the demo model; set GEMINI_API_KEY or unset LLM_MODEL',
    )
  }
  if (config.contextTokens !== undefined && chosenProvider(config) === 'demo') {
    problems.push(
      'LLM_CONTEXT_TOKENS has no effect on the demo model; set DEMO_CONTEXT_TOKENS instead',
    )
  }
  return problems
}

export function chosenProvider(config: WorkerConfig): 'gemini' | 'demo' {
  return config.provider ?? (config.geminiApiKey === undefined ? 'demo' : 'gemini')
}
