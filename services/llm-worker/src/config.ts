import type { Config } from '@mcp-host/service'
import { setting, values } from '@mcp-host/service'
import { z } from 'zod'
import { providers, providerTypes, variablePrefix } from './providers/index.ts'

/**
 * The key and address of every provider. They are validated here but read in `findProvider`, since `llm.json` may name
 * further providers. The type hides them from all other code.
 */
const providerSettings: object = Object.fromEntries(
  Object.entries(providers).flatMap(([name, { title, keyVariable, isKeyOptional, baseUrl }]) => {
    const key = {
      env: keyVariable,
      schema: values.secret.optional(),
      describe: `${isKeyOptional === true ? 'Optional key' : 'Key'} for ${title}. ${keyVariable}_FILE names a file that has it instead, and is read again when it changes.`,
      isSecret: true,
    }
    const address = {
      env: `${variablePrefix(name)}_BASE_URL`,
      schema: values.url.optional(),
      describe: `Address of ${title}; ${baseUrl === undefined ? 'required to use them' : `default ${baseUrl}`}.`,
    }
    return [...(keyVariable === undefined ? [] : [key]), ...(baseUrl === '' ? [] : [address])].map(
      (each) => [each.env, each],
    )
  }),
)

/** Settings of the model workers. */
export const workerSettings = {
  llmConfig: setting({
    env: 'LLM_CONFIG',
    schema: values.text,
    default: 'llm.json',
    describe:
      'File with providers, models, limits and who answers when another cannot. It has the last word. The default need not exist; none is no file.',
  }),
  provider: setting({
    env: 'LLM_PROVIDER',
    schema: values.text.optional(),
    describe: `Provider that answers: ${providerTypes.join(', ')}, or one of llm.json. Without it: the first of these that has a key, else the built-in demo model.`,
  }),
  model: setting({
    env: 'LLM_MODEL',
    schema: values.text.optional(),
    describe: "The provider's name of the model. Without it: a current one of that provider.",
  }),
  fallback: setting({
    env: 'LLM_FALLBACK',
    schema: values.list,
    default: '',
    describe:
      'Models that answer when that one cannot, in this order, separated by commas; as provider or provider/model.',
  }),
  contextTokens: setting({
    env: 'LLM_CONTEXT_TOKENS',
    schema: values.integer(1_000, 100_000_000).optional(),
    describe:
      'How many tokens of conversation and answer the models take at most, where llm.json does not say it.',
  }),
  maxGenerations: setting({
    env: 'MAX_GENERATIONS',
    schema: values.integer(1, 100_000),
    default: '200',
    describe: 'Largest number of generations that a worker runs at the same time.',
  }),
  llmRecord: setting({
    env: 'LLM_RECORD',
    schema: values.text.optional(),
    describe:
      'File to which all answers of models are written, for DEMO_REPLAY. It holds what users say.',
  }),
  ...providerSettings,
  demoTokensPerSecond: setting({
    env: 'DEMO_TOKENS_PER_SECOND',
    schema: values.integer(0, 1_000_000),
    default: '60',
    describe: 'How fast the demo model writes; 0 is as fast as it can.',
  }),
  demoContextTokens: setting({
    env: 'DEMO_CONTEXT_TOKENS',
    schema: values.integer(1, 100_000_000),
    default: String(providers.demo.contextWindow),
    describe: 'How many tokens of conversation and answer the demo model takes at most.',
  }),
  demoReplay: setting({
    env: 'DEMO_REPLAY',
    schema: values.text.optional(),
    describe:
      'File that LLM_RECORD wrote: the demo model then answers what was asked there as it was answered there; as fast as it can with DEMO_TOKENS_PER_SECOND=0.',
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
