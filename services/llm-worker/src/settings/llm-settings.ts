import { ConfigError, readJsonFile } from '@mcp-host/service'
import type { WorkerConfig } from '../config.ts'
import type { Provider } from './find-provider.ts'
import { findProvider } from './find-provider.ts'
import { LlmFile, ProviderType } from './llm-file.ts'
import { providerTypes } from './provider-types.ts'
import type { Environment } from './read-key.ts'
import { KeyError } from './read-key.ts'

/** Who may answer. */
export interface LlmSettings {
  readonly providers: ReadonlyMap<string, Provider>
  /** Who answers when nobody is named, as `provider/model` or `provider`; without it the first there is. */
  readonly default?: string
  /** Who answers instead when that one cannot, the first first. */
  readonly fallback: readonly string[]
  /** What was read, to be looked at for changes. */
  readonly files: readonly string[]
}

/** In place of a path: there is no file. */
const NONE = 'none'

type Config = Pick<WorkerConfig, 'llmConfig' | 'provider' | 'model' | 'fallback'>

/**
 * Puts together who may answer, from the environment and from `llm.json`, which has the last word. Throws
 * `ConfigError` with all that is wrong.
 */
export function readLlmSettings(config: Config, env: Environment): LlmSettings {
  const { llmConfig, provider, model } = config
  const file = llmConfig === NONE ? undefined : readJsonFile(llmConfig, LlmFile)
  if (file === undefined && llmConfig !== NONE && (env['LLM_CONFIG'] ?? '') !== '') {
    throw new ConfigError([`LLM_CONFIG: there is no file ${llmConfig}; "${NONE}" does without one`])
  }
  const own = file?.providers ?? {}
  const problems: string[] = []
  const providers = new Map<string, Provider>()
  const fallback = file?.fallback ?? config.fallback
  const named = [file?.default ?? provider, ...fallback].flatMap((each) =>
    each === undefined ? [] : [providerOf(each)],
  )
  for (const name of new Set([...Object.keys(own), ...ProviderType.options])) {
    try {
      providers.set(name, findProvider(name, own[name] ?? {}, env))
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error)
      if (own[name] !== undefined) problems.push(`${llmConfig}: providers.${name}: ${message}`)
      // Else nothing is wrong that nobody wants, unless it was meant to be there.
      else if (error instanceof KeyError || named.includes(name)) {
        problems.push(`the provider ${name} ${message}`)
      }
    }
  }
  for (const name of named) {
    if (own[name] !== undefined || ProviderType.safeParse(name).success) continue
    const known = Array.from(providers.keys()).join(', ')
    problems.push(`there is no provider "${name}"; there are ${known}`)
  }
  const keyed = Array.from(providers.values()).find(
    ({ type, apiKey, ...each }) =>
      apiKey !== undefined &&
      (each.model !== undefined || providerTypes[type].keyEnv !== undefined),
  )
  const chosen = provider ?? keyed?.name
  if (model !== undefined && (file?.default ?? chosen ?? 'demo') === 'demo') {
    problems.push('LLM_MODEL has no effect on the demo model; set LLM_PROVIDER or a key as well')
  }
  if (problems.length > 0) throw new ConfigError(problems)
  const first =
    file?.default ?? (chosen === undefined || model === undefined ? chosen : `${chosen}/${model}`)
  const keyFiles = Array.from(providers.values()).flatMap(({ keyFile }) => keyFile ?? [])
  return {
    providers,
    fallback,
    files: llmConfig === NONE ? keyFiles : [llmConfig, ...keyFiles],
    ...(first === undefined ? {} : { default: first }),
  }
}

/** The provider of `provider/model`. */
export function providerOf(reference: string): string {
  return reference.split('/', 1)[0] ?? ''
}
