import { withoutAlias } from '@mcp-host/contracts'
import { z } from 'zod'
import { providerTypes } from '../providers/index.ts'

/** Type of a provider: one of the folders in `providers/`. */
export const ProviderType = z.enum(providerTypes)

/** A type in any spelling that is accepted in settings. */
const WrittenType = z
  .string()
  .transform((written) => withoutAlias(written))
  .pipe(ProviderType)

const milliseconds = z.int().positive()

/** Time limits in milliseconds. */
const Timeouts = z.strictObject({
  /** The time from the request to the first part of the answer. */
  firstToken: milliseconds.optional(),
  /** The time from one part to the next. */
  betweenTokens: milliseconds.optional(),
  /** The time for the whole answer. */
  total: milliseconds.optional(),
  /** The time in the queue of a provider with limits. */
  queue: milliseconds.optional(),
})
export type Timeouts = z.infer<typeof Timeouts>

/** Limits of a provider, shared by all workers. */
const Limits = z.strictObject({
  /** The number of concurrent answers. */
  concurrent: z.int().min(1).max(10_000).optional(),
  requestsPerMinute: z.int().min(1).max(10_000).optional(),
})
export type Limits = z.infer<typeof Limits>

/** Prices for a million tokens, in any currency. */
const Prices = z.strictObject({
  input: z.number().nonnegative(),
  /** The price of cached input; by default that of other input. */
  cachedInput: z.number().nonnegative().optional(),
  output: z.number().nonnegative(),
})
export type Prices = z.infer<typeof Prices>

const ModelSettings = z.strictObject({
  /** The context window in tokens. */
  contextWindow: z.int().positive().optional(),
  /** The longest answer in tokens. */
  maxOutputTokens: z.int().positive().optional(),
  temperature: z.number().min(0).max(2).optional(),
  /** `false`: tools are described in the prompt, and calls are read from the text. */
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
  /** The type; by default the provider's name. */
  type: WrittenType.optional(),
  /** The address, if it differs from the default. */
  baseUrl: z.url('must be a URL').optional(),
  /** The default model of this provider. */
  model: z.string().min(1).optional(),
  models: z.record(z.string().min(1), ModelSettings).optional(),
  timeouts: Timeouts.optional(),
  limits: Limits.optional(),
})
export type ProviderSettings = z.infer<typeof ProviderSettings>

/** `llm.json`. Models are named `provider/model`, or `provider` for its default model. */
export const LlmFile = z.strictObject({
  /** The schema for editors; it is not read. */
  $schema: z.string().optional(),
  /** The default model. */
  default: z.string().min(1).optional(),
  /** Fallback models, in order. */
  fallback: z.array(z.string().min(1)).optional(),
  providers: z
    .record(
      z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, 'must be 1 to 64 letters, digits, "-" or "_"'),
      ProviderSettings,
    )
    .optional(),
})
export type LlmFile = z.infer<typeof LlmFile>
