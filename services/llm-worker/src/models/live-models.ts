import type { ProviderEntry } from '@mcp-host/contracts'
import { watchFile } from '@mcp-host/process'
import type { Model } from '../model.ts'
import type { LlmSettings } from '../settings/llm-settings.ts'
import { readLlmSettings } from '../settings/llm-settings.ts'
import type { Environment } from '../settings/read-key.ts'
import type { Models, ModelsDeps } from './models.ts'
import { createModels } from './models.ts'

export interface LiveModelsOptions extends ModelsDeps {
  readonly env: Environment
  /** Called after other models took effect. */
  readonly onChange: () => void
  /** Called when the settings cannot be read or watched. The previous ones stay in effect. */
  readonly onFailure: (error: unknown) => void
}

/** The available models. Reads `llm.json` and files with keys again when they change. */
export class LiveModels implements Disposable {
  readonly #options: LiveModelsOptions
  #settings: LlmSettings
  #models: Models
  #watched = new DisposableStack()
  /** The queue of reads, one after the other, so that the last content takes effect. */
  #reading = Promise.resolve()

  private constructor(options: LiveModelsOptions, settings: LlmSettings, models: Models) {
    this.#options = options
    this.#settings = settings
    this.#models = models
    this.#watch(settings.files)
  }

  /** Throws `ConfigError` with all faults. */
  static async read(options: LiveModelsOptions): Promise<LiveModels> {
    const { config, env } = options
    const settings = readLlmSettings(config, env)
    return new LiveModels(options, settings, await createModels(options, settings))
  }

  /** Like `Models.get`. A model that was returned earlier does not change. */
  get(reference?: string, avoid?: readonly string[]): Model {
    return this.#models.get(reference, avoid)
  }

  /** Like `Models.oneOf`. */
  oneOf(request: Parameters<Models['oneOf']>[0]): Model {
    return this.#models.oneOf(request)
  }

  /** Like `Models.list`. */
  list(): Promise<ProviderEntry[]> {
    return this.#models.list()
  }

  /** Like `Models.present`. */
  get present(): readonly string[] {
    return this.#models.present
  }

  /** Uses servers without a key that have started since the latest listing, as at a start. */
  look(): void {
    this.#reading = this.#reading.then(() => this.#look()).catch(this.#options.onFailure)
  }

  [Symbol.dispose](): void {
    this.#watched.dispose()
  }

  #watch(files: readonly string[]): void {
    for (const file of files) {
      const onChange = (): void => {
        this.#reading = this.#reading.then(() => this.#readAgain())
      }
      this.#watched.use(watchFile(file, onChange, this.#options.onFailure))
    }
  }

  async #look(): Promise<void> {
    if (!(await this.#models.haveArrived()) || this.#watched.disposed) return
    this.#models = await createModels(this.#options, this.#settings, this.#models.standard)
    this.#options.onChange()
  }

  async #readAgain(): Promise<void> {
    const { config, env, onChange, onFailure } = this.#options
    try {
      const settings = readLlmSettings(config, env)
      this.#models = await createModels(this.#options, settings)
      this.#settings = settings
      if (this.#watched.disposed) return
      this.#watched.dispose()
      this.#watched = new DisposableStack()
      this.#watch(settings.files)
      onChange()
    } catch (error) {
      onFailure(error)
    }
  }
}
