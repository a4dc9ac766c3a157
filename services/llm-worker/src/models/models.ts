import type { ListedModel, ProviderEntry, SampleRequest } from '@mcp-host/contracts'
import { BusError, ownValue, withoutAlias } from '@mcp-host/contracts'
import { ConfigError } from '@mcp-host/service'
import type { Budgets } from '../budget/budgets.ts'
import type { WorkerConfig } from '../config.ts'
import type { Model, StreamPart } from '../model.ts'
import { needsKey, providers as definitions } from '../providers/index.ts'
import { withFallback } from '../resilience/with-fallback.ts'
import type { Provider } from '../settings/find-provider.ts'
import type { ModelSettings } from '../settings/llm-file.ts'
import type { LlmSettings } from '../settings/llm-settings.ts'
import { providerOf } from '../settings/llm-settings.ts'
import { createModel } from './create-model.ts'
import { answers, firstModel, listModels } from './list-models.ts'
import { LOCAL_PATIENCE_MS, locateLocal } from './locate.ts'
import { realModelHint } from './real-model-hint.ts'
import { recorded } from './trace/recorded.ts'

/** The time limit for a provider to list its models. */
const NAMED_PATIENCE_MS = 5_000

/** Limit for models that are cached with the state of their circuit breakers. */
const MAX_MODELS = 100

export interface ModelsDeps {
  readonly config: WorkerConfig
  readonly budgets: Pick<Budgets, 'enter'>
  /** A second host on which local servers are looked for. */
  readonly otherHost?: string | undefined
  /** Called with errors that do not fail an answer. */
  readonly onFailure?: (error: unknown) => void
}

/** The available models, with their fallbacks. */
export class Models {
  readonly #deps: ModelsDeps
  readonly #settings: LlmSettings
  readonly #models = new Map<string, Model>()
  /** The ids in the latest list of each provider. */
  readonly #listed = new Map<string, readonly string[]>()
  readonly #default: string
  #present: readonly string[]
  /** Own servers that had no models at the latest listing. */
  #away: readonly Provider[] = []

  /** `standard`: the default model. */
  constructor(deps: ModelsDeps, settings: LlmSettings, standard: string) {
    this.#deps = deps
    this.#settings = settings
    this.#default = standard
    this.#present = [...settings.providers.keys(), ...settings.incomplete.keys()]
  }

  /** The default model. */
  get standard(): string {
    return this.#default
  }

  /** The names of the providers in the latest list; before the first one, those of the settings. */
  get present(): readonly string[] {
    return this.#present
  }

  /** Whether a server without a key, which had no models at the latest listing, has some. */
  async haveArrived(): Promise<boolean> {
    const away = new Map(this.#away.map((each) => [each.name, each]))
    const { providers } = await locateLocal(
      { ...this.#settings, providers: away },
      this.#deps.otherHost,
    )
    const asked = Array.from(providers.values(), (each) => answers(each, LOCAL_PATIENCE_MS))
    return (await Promise.all(asked)).includes(true)
  }

  /**
   * The model for `provider/model`, or for `provider` alone, with its fallbacks. Models in `avoid` are tried last.
   * Throws `invalid` with the known providers.
   */
  get(reference = this.#default, avoid: readonly string[] = []): Model {
    // A replay has no fallback, so that missing recordings are noticed.
    if (this.#deps.config.demoReplay !== undefined) return this.#one('demo')
    const first = this.#one(reference)
    const chain = new Set([first, ...this.#settings.fallback.map((each) => this.#one(each))])
    const isAvoided = ({ provider, model }: Model): boolean =>
      avoid.includes(`${provider}/${model}`)
    const [head = first, ...others] = [
      ...Array.from(chain).filter((each) => !isAvoided(each)),
      ...Array.from(chain).filter(isAvoided),
    ]
    const model = withFallback(head, others)
    const notice = `${first.provider} broke off its answer; ${head.provider} answers instead`
    return this.#recorded(head === first ? model : announced(notice, model))
  }

  /** The model for a reference as `get`, without a fallback. */
  alone(reference: string): Model {
    if (this.#deps.config.demoReplay !== undefined) return this.#one('demo')
    return this.#recorded(this.#one(reference))
  }

  /**
   * The model for one reply. A request that names a model gets no other one. Hints of a server, the strongest first, choose
   * among the default models and those of the settings, so that a server cannot choose any model that a provider sells.
   */
  oneOf({ model, modelPreferences }: Pick<SampleRequest, 'model' | 'modelPreferences'>): Model {
    if (model !== undefined) return this.alone(model)
    const hints = modelPreferences?.hints ?? []
    for (const { name = '' } of hints) {
      const hinted = name === '' ? undefined : this.#hinted(withoutAlias(name.toLowerCase()))
      if (hinted !== undefined) return this.get(hinted)
    }
    return this.get()
  }

  /** The first model of the settings whose name has a part. */
  #hinted(part: string): string | undefined {
    const { providers, fallback } = this.#settings
    const own = Array.from(providers.values(), (provider) => {
      const names = [defaultModel(provider) ?? [], ...Object.keys(provider.models)].flat()
      return names.map((name) => `${provider.name}/${name}`)
    })
    const named = [this.#default, ...fallback, ...own.flat()]
    return named.find((reference) => reference.toLowerCase().includes(part))
  }

  /** The choosable models. Asks every provider. */
  async list(): Promise<ProviderEntry[]> {
    const providers = Array.from(this.#settings.providers.values())
    const entries = await Promise.all(providers.map((each) => listed(each, this.#deps.config)))
    for (const entry of entries) {
      this.#listed.set(
        entry.provider,
        entry.models.map(({ id }) => id),
      )
    }
    this.#away = providers.filter(
      ({ type }, index) => !needsKey(definitions[type]) && entries[index]?.models.length === 0,
    )
    // Local servers that do not run are listed only when the settings name them.
    const wanted = [this.#default, ...this.#settings.fallback].map(providerOf)
    const shown = entries.filter(
      (entry, index) =>
        entry.state === 'ready' ||
        wanted.includes(entry.provider) ||
        definitions[providers[index]?.type ?? 'demo'].isLocal !== true,
    )
    const lacking = Array.from(this.#settings.incomplete)
      .filter(([name]) => !this.#settings.providers.has(name))
      .map(([provider, lack]): ProviderEntry => ({
        kind: 'provider',
        provider,
        state: 'unavailable',
        error: `${provider} ${lack}`,
        models: [],
      }))
    const all = [...shown, ...lacking]
    this.#present = all.map(({ provider }) => provider)
    return all
  }

  #recorded(model: Model): Model {
    const { config, onFailure = ignore } = this.#deps
    const { llmRecord } = config
    return llmRecord === undefined ? model : recorded(model, { path: llmRecord, onFailure })
  }

  #one(asked: string): Model {
    const reference = withoutAlias(asked, (name) => this.#settings.providers.has(name))
    const name = providerOf(reference)
    const provider = this.#settings.providers.get(name)
    if (provider === undefined) {
      const lack = this.#settings.incomplete.get(name)
      if (lack !== undefined) throw new BusError('invalid', `${name} ${lack}`)
      const known = Array.from(this.#settings.providers.keys()).join(', ')
      throw new BusError('invalid', `there is no provider "${name}"; there are ${known}`)
    }
    const model = reference.slice(name.length + 1) || defaultModel(provider)
    if (model === undefined) {
      throw new BusError(
        'invalid',
        `${name} has no default model; say ${name}/<model>, or set LLM_MODEL`,
      )
    }
    const key = `${name}/${model}`
    const known = this.#models.get(key)
    this.#models.delete(key)
    const made = known ?? this.#create(provider, model)
    this.#models.set(key, made)
    // Clients choose the names, so the cache is bounded: the least recently used model is evicted.
    const [oldest] = this.#models.keys()
    if (this.#models.size > MAX_MODELS && oldest !== undefined) this.#models.delete(oldest)
    return made
  }

  #create(provider: Provider, model: string): Model {
    const deps = { ...this.#deps, realModelHint: realModelHint(this.#settings.incomplete) }
    const names = (): readonly string[] => this.#listed.get(provider.name) ?? []
    const made = naming(createModel(deps, provider, model), names)
    const { name, models } = provider
    const isKnown = Object.hasOwn(models, model) || model === defaultModel(provider)
    const isNamed = [this.#default, ...this.#settings.fallback].includes(`${name}/${model}`)
    return isKnown || isNamed ? made : { ...made, countedAs: { provider: name, model: 'other' } }
  }
}

const ignore = (): void => undefined

async function listed(provider: Provider, config: WorkerConfig): Promise<ProviderEntry> {
  const { name, type, models: settings } = provider
  const own = type === 'demo' ? config.demoContextTokens : definitions[type].contextWindow
  const standard = defaultModel(provider)
  const signal = AbortSignal.timeout(NAMED_PATIENCE_MS)
  const found = await listModels(provider, { signal }).catch((error: unknown) =>
    BusError.from(error),
  )
  const models = found instanceof BusError ? [] : found
  const unlisted = Object.keys(settings).filter((id) => models.every((each) => each.id !== id))
  return {
    kind: 'provider',
    provider: name,
    state: found instanceof BusError ? 'unavailable' : 'ready',
    ...(found instanceof BusError ? { error: found.message } : {}),
    ...(standard === undefined ? {} : { defaultModel: standard }),
    contextWindow: config.contextTokens ?? own,
    models: [...models, ...unlisted.map((id) => ({ id }))].map((model) =>
      asSet(model, ownValue(settings, model.id), config),
    ),
  }
}

/** A listed model with the values that the settings override. */
function asSet(
  model: ListedModel,
  { contextWindow, nativeTools }: ModelSettings = {},
  { contextTokens }: Pick<WorkerConfig, 'contextTokens'>,
): ListedModel {
  const window = contextWindow ?? contextTokens ?? model.contextWindow
  return {
    ...model,
    ...(window === undefined ? {} : { contextWindow: window }),
    ...(nativeTools === undefined ? {} : { tools: nativeTools }),
  }
}

/** Limit for the names in the error about an unknown model. */
const MAX_NAMED = 10

/** A model whose error for an unknown model lists the known ones. */
function naming(model: Model, namesOf: () => readonly string[]): Model {
  return {
    ...model,
    async *stream(request, options): AsyncGenerator<StreamPart> {
      try {
        yield* model.stream(request, options)
      } catch (error) {
        const names = namesOf()
        const isUnknown = error instanceof BusError && error.code === 'not-found'
        if (!isUnknown || names.length === 0 || names.includes(model.model)) throw error
        const more = names.length > MAX_NAMED ? ` and ${names.length - MAX_NAMED} more` : ''
        const message = `${error.message}; there are ${names.slice(0, MAX_NAMED).join(', ')}${more}`
        throw new BusError('not-found', message, { cause: error })
      }
    },
  }
}

/** A model whose answers begin with a notice for the user. */
function announced(notice: string, model: Model): Model {
  return {
    ...model,
    async *stream(request, options): AsyncGenerator<StreamPart> {
      yield { type: 'notice', text: notice }
      yield* model.stream(request, options)
    },
  }
}

/**
 * Creates the models of these settings. Without a default in the settings it is `former`, unless that is the demo model;
 * else a local server that answers.
 */
export async function createModels(
  deps: ModelsDeps,
  given: LlmSettings,
  former = 'demo',
): Promise<Models> {
  const settings = await locateLocal(given, deps.otherHost)
  const named = (reference: string): Promise<string> => withModel(settings, reference)
  const kept = former === 'demo' ? undefined : former
  const standard = await named(settings.default ?? kept ?? (await findLocal(settings)) ?? 'demo')
  const fallback = await Promise.all(settings.fallback.map(named))
  const models = new Models(deps, { ...settings, fallback }, standard)
  try {
    models.get()
  } catch (error) {
    throw new ConfigError([BusError.from(error).message])
  }
  return models
}

/** Completes the name of a local provider with its first model when there is no default model. */
async function withModel({ providers }: LlmSettings, reference: string): Promise<string> {
  const provider = providers.get(reference)
  const isOpen = provider !== undefined && defaultModel(provider) === undefined
  if (!isOpen || definitions[provider.type].isLocal !== true) return reference
  const first = await firstModel(provider, NAMED_PATIENCE_MS)
  if (first !== undefined) return `${reference}/${first}`
  const message = `${reference} at ${provider.baseUrl} lists no model; start it, or name one: ${reference}/<model>`
  throw new ConfigError([message])
}

function defaultModel({ type, model, models }: Provider): string | undefined {
  const [first] = Object.keys(models)
  return model ?? first ?? definitions[type].defaultModel
}

/** The first model of the first local server that answers. */
async function findLocal({ providers }: LlmSettings): Promise<string | undefined> {
  const local = Array.from(providers.values()).filter(
    ({ type }) => definitions[type].isLocal === true,
  )
  const found = await Promise.all(
    local.map(async (provider) => {
      const first = await firstModel(provider, LOCAL_PATIENCE_MS)
      return first === undefined ? undefined : `${provider.name}/${first}`
    }),
  )
  return found.find((each) => each !== undefined)
}
