import { ownValue, withoutAlias } from '@mcp-host/contracts'
import { ConfigError, nearestName, readDataFile } from '@mcp-host/service'
import type { WorkerConfig } from '../config.ts'
import { needsKey, providers as definitions, variablePrefix } from '../providers/index.ts'
import type { Provider } from './find-provider.ts'
import { findProvider } from './find-provider.ts'
import type { ProviderSettings } from './llm-file.ts'
import { LlmFile, ProviderType } from './llm-file.ts'
import type { Environment } from './read-key.ts'
import { KeyError } from './read-key.ts'

/** The available models. */
export interface LlmSettings {
  readonly providers: ReadonlyMap<string, Provider>
  /** The default model, as `provider/model` or `provider`; without it the first one. */
  readonly default?: string
  /** What each provider lacks that was configured in part, in words that follow its name. */
  readonly incomplete: ReadonlyMap<string, string>
  /** Fallback models, in order. */
  readonly fallback: readonly string[]
  /** The files that were read, which are watched for changes. */
  readonly files: readonly string[]
}

/** The value of a path setting that disables its file. */
const NONE = 'none'

type Config = Pick<WorkerConfig, 'llmConfig' | 'provider' | 'model' | 'fallback'>

/** Merges the models of the environment and of `llm.json`, which wins. Throws `ConfigError` with all faults. */
export function readLlmSettings(config: Config, env: Environment): LlmSettings {
  const { llmConfig, model } = config
  const file = llmConfig === NONE ? undefined : readDataFile(llmConfig, LlmFile)
  if (file === undefined && llmConfig !== NONE && (env['LLM_CONFIG'] ?? '') !== '') {
    throw new ConfigError([`LLM_CONFIG: there is no file ${llmConfig}; "${NONE}" does without one`])
  }
  const own = ownProviders(file)
  const resolve = (reference: string): string =>
    withoutAlias(reference, (name) => Object.hasOwn(own, name))
  const provider = config.provider && resolve(config.provider)
  const standard = file?.default && resolve(file.default)
  const fallback = (file?.fallback ?? config.fallback).map(resolve)
  const problems: string[] = []
  const providers = new Map<string, Provider>()
  const incomplete = new Map<string, string>()
  const named = [standard ?? provider, ...fallback].flatMap((each) =>
    each === undefined ? [] : [providerOf(each)],
  )
  for (const name of new Set([...Object.keys(own), ...ProviderType.options])) {
    try {
      providers.set(name, findProvider(name, ownValue(own, name) ?? {}, env))
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error)
      if (Object.hasOwn(own, name)) problems.push(`${llmConfig}: providers.${name}: ${message}`)
      // A fault of an unused provider is reported only when it was configured on purpose.
      else if (error instanceof KeyError || named.includes(name)) {
        problems.push(`the provider ${name} ${message}`)
      } else if (isTouched(name, env)) incomplete.set(name, message)
    }
  }
  for (const name of named) {
    if (Object.hasOwn(own, name) || ProviderType.safeParse(name).success) continue
    const known = [...new Set([...Object.keys(own), ...ProviderType.options])]
    const nearest = nearestName(name, known, 2)
    const hint = nearest === undefined ? '' : `; did you mean ${nearest}?`
    problems.push(`there is no provider "${name}"; there are ${known.join(', ')}${hint}`)
  }
  const keyed = Array.from(providers.values()).find(
    ({ type, apiKey, ...each }) =>
      apiKey !== undefined && (each.model !== undefined || needsKey(definitions[type])),
  )
  const chosen = provider ?? keyed?.name ?? (model && onlyAddressed(providers, env))
  if (model !== undefined && (standard ?? chosen ?? 'demo') === 'demo') {
    problems.push('LLM_MODEL has no effect on the demo model; set LLM_PROVIDER or a key as well')
  }
  const first =
    standard ?? (chosen === undefined || model === undefined ? chosen : `${chosen}/${model}`)
  const unnamed = first === undefined ? undefined : providers.get(first)
  if (unnamed !== undefined && lacksModel(unnamed)) {
    problems.push(`the provider ${unnamed.name} has no default model; set LLM_MODEL`)
  }
  if (problems.length > 0) throw new ConfigError(problems)
  for (const each of providers.values()) {
    const { name, type } = each
    if (first !== undefined || !lacksModel(each)) continue
    const remedy = `set LLM_PROVIDER=${name} and LLM_MODEL, or choose one of its models`
    if (type !== 'demo') incomplete.set(name, `has no default model, so another answers; ${remedy}`)
  }
  const keyFiles = Array.from(providers.values()).flatMap(({ keyFile }) => keyFile ?? [])
  return {
    providers,
    incomplete,
    fallback,
    files: llmConfig === NONE ? keyFiles : [llmConfig, ...keyFiles],
    ...(first === undefined ? {} : { default: first }),
  }
}

/** The provider whose address is set, if it is the only one and needs no key. */
function onlyAddressed(
  providers: ReadonlyMap<string, Provider>,
  env: Environment,
): string | undefined {
  const addressed = Array.from(providers.values()).filter(
    ({ name, type }) => env[`${variablePrefix(name)}_BASE_URL`] && !needsKey(definitions[type]),
  )
  return addressed.length === 1 ? addressed[0]?.name : undefined
}

/** Whether requests must name its model, which local servers list. */
function lacksModel({ type, model, models }: Provider): boolean {
  const { isLocal, defaultModel } = definitions[type]
  const hasOwn = model !== undefined || Object.keys(models).length > 0
  return !hasOwn && isLocal !== true && defaultModel === undefined
}

/** Whether the environment has a setting of this type of provider. */
function isTouched(name: string, env: Environment): boolean {
  const key = keyVariable(name)
  return [key, `${key}_FILE`, `${variablePrefix(name)}_BASE_URL`].some((each) => env[each])
}

/** The environment variable that has the key of a provider which `llm.json` does not mention. */
export function keyVariable(provider: string): string {
  const type = ProviderType.safeParse(provider).data
  const usual = type === undefined ? undefined : definitions[type].keyVariable
  return usual ?? `${variablePrefix(provider)}_API_KEY`
}

/** The providers of `llm.json`. A provider named by an alias gets its own name, unless the file has that name, too. */
function ownProviders(file: LlmFile | undefined): Readonly<Record<string, ProviderSettings>> {
  const written = file?.providers ?? {}
  const entries = Object.entries(written).map(([name, settings]): [string, ProviderSettings] => {
    const ownName = withoutAlias(name)
    const isAlias = !Object.hasOwn(written, ownName) && (settings.type ?? ownName) === ownName
    return [isAlias ? ownName : name, settings]
  })
  return Object.fromEntries(entries)
}

/** The provider of `provider/model`. */
export function providerOf(reference: string): string {
  return reference.split('/', 1)[0] ?? ''
}
