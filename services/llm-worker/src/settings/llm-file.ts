import { withoutAlias } from '@mcp-host/contracts'
import { z } from 'zod'

/** What a provider speaks. */
export const ProviderType = z.enum([
  'gemini',
  'anthropic',
  'openai',
  'xai',
  'ollama',
  'lmstudio',
  'openai-compatible',
  'demo',
])
export type ProviderType = z.infer<typeof ProviderType>

/** A type as people write it. */
const WrittenType = z
  .string()
  .transform((written) => withoutAlias(written))
  .pipe(ProviderType)

const milliseconds = z.int().positive()

/** In milliseconds. */
const Timeouts = z.strictObject({
  /** From the request to the first part of the answer. */
  firstToken: milliseconds.optional(),
  /** From one part to the next. */
  betweenTokens: milliseconds.optional(),
  /** For the whole answer. */
  total: milliseconds.optional(),
  /** In the queue, where limits are set. */
  queue: milliseconds.optional(),
})
export type Timeouts = z.infer<typeof Timeouts>

/** Of a provider, for all workers together. */
const Limits = z.strictObject({
  /** So many answers at once. */
  concurrent: z.int().min(1).max(10_000).optional(),
  requestsPerMinute: z.int().min(1).max(10_000).optional(),
})
export type Limits = z.infer<typeof Limits>

/** Of a million tokens, in any currency. */
const Prices = z.strictObject({
  input: z.number().nonnegative(),
  /** Of those that the provider had in its cache; default: as the others. */
  cachedInput: z.number().nonnegative().optional(),
  output: z.number().nonnegative(),
})
export type Prices = z.infer<typeof Prices>

const ModelSettings = z.strictObject({
  /** How many tokens of conversation and answer it takes at most. */
  contextWindow: z.int().positive().optional(),
  /** How many tokens it writes at most. */
  maxOutputTokens: z.int().positive().optional(),
  temperature: z.number().min(0).max(2).optional(),
  /** `false`: it is told of the tools in words and asks for them in its text. */
  nativeTools: z.boolean().optional(),
  prices: Prices.optional(),
})
export type ModelSettings = z.infer<typeof ModelSettings>

const Key = z.strictObject({
  /** Name of the environment variable that has the key. */
  apiKeyEnv: z.string().min(1).optional(),
  /** Path of a file that has the key and nothing else. */
  apiKeyFile: z.string().min(1).optional(),
})

const ProviderSettings = Key.extend({
  /** Default: its name. */
  type: WrittenType.optional(),
  /** Where it is reached, when it is not at its own address. */
  baseUrl: z.url('must be a URL').optional(),
  /** The model that answers when only the provider is named. */
  model: z.string().min(1).optional(),
  models: z.record(z.string().min(1), ModelSettings).optional(),
  timeouts: Timeouts.optional(),
  limits: Limits.optional(),
})
export type ProviderSettings = z.infer<typeof ProviderSettings>

/** `llm.json`. Models are named `provider/model`, or `provider` for its default model. */
export const LlmFile = z.strictObject({
  /** Helps editors; not read. */
  $schema: z.string().optional(),
  /** Who answers when nobody says otherwise. */
  default: z.string().min(1).optional(),
  /** Who answers when that one cannot, the first first. */
  fallback: z.array(z.string().min(1)).optional(),
  providers: z
    .record(
      z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, 'must be 1 to 64 letters, digits, "-" or "_"'),
      ProviderSettings,
    )
    .optional(),
})
export type LlmFile = z.infer<typeof LlmFile>
