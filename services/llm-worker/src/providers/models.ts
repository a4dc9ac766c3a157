import { BusError } from '@mcp-host/contracts'
import type { WorkerConfig } from '../config.ts'
import type { Model } from '../model.ts'
import { withFallback } from '../resilience/with-fallback.ts'
import type { Provider } from '../settings/find-provider.ts'
import type { LlmSettings } from '../settings/llm-settings.ts'
import { providerOf } from '../settings/llm-settings.ts'
import { providerTypes } from '../settings/provider-types.ts'
import { createModel } from './create-model.ts'
import { providerKinds } from './kinds.ts'
import { listModels } from './list-models.ts'

/** A local server that does not answer by then is not there. */
const LOCAL_PATIENCE_MS = 300

/** The models that may answer. */
export class Models {
  readonly #settings: LlmSettings
  readonly #config: WorkerConfig
  readonly #models = new Map<string, Model>()
  readonly #default: string

  /** `standard`: who answers when nobody is named. */
  constructor(settings: LlmSettings, config: WorkerConfig, standard: string) {
    this.#settings = settings
    this.#config = config
    this.#default = standard
  }

  /**
   * A model by `provider/model`, or by `provider` alone, with those that stand in for it. Throws `invalid`
   * with a list of what there is.
   */
  get(reference = this.#default): Model {
    const others = this.#settings.fallback.filter((each) => each !== reference)
    return withFallback(
      this.#one(reference),
      others.map((each) => this.#one(each)),
    )
  }

  #one(reference: string): Model {
    const name = providerOf(reference)
    const provider = this.#settings.providers.get(name)
    if (provider === undefined) {
      const known = Array.from(this.#settings.providers.keys()).join(', ')
      throw new BusError('invalid', `there is no provider "${name}"; there are ${known}`)
    }
    const model = reference.slice(name.length + 1) || defaultModel(provider)
    if (model === undefined) {
      throw new BusError('invalid', `${name} has no default model; say ${name}/<model>`)
    }
    const key = `${name}/${model}`
    const known = this.#models.get(key)
    if (known !== undefined) return known
    const made = createModel(provider, model, this.#config)
    this.#models.set(key, made)
    return made
  }
}

/** The models of these settings; who answers when nobody is named may be a server found on this machine. */
export async function createModels(settings: LlmSettings, config: WorkerConfig): Promise<Models> {
  const standard = settings.default ?? (await findLocal(settings)) ?? 'demo'
  const models = new Models(settings, config, standard)
  for (const reference of [standard, ...settings.fallback]) models.get(reference)
  return models
}

function defaultModel({ type, model, models }: Provider): string | undefined {
  const [first] = Object.keys(models)
  return model ?? first ?? (type === 'demo' ? 'demo-1' : providerKinds[type].defaultModel)
}

/** The first model of the first local server that answers. */
async function findLocal({ providers }: LlmSettings): Promise<string | undefined> {
  const local = Array.from(providers.values()).filter(
    ({ type }) => providerTypes[type].isLocal === true,
  )
  const found = await Promise.all(
    local.map(async (provider) => {
      const signal = AbortSignal.timeout(LOCAL_PATIENCE_MS)
      const [first] = await listModels(provider, { signal }).catch(() => [])
      return first === undefined ? undefined : `${provider.name}/${first}`
    }),
  )
  return found.find((each) => each !== undefined)
}
