import type { ProviderEntry } from '@mcp-host/contracts'
import { watchFile } from '@mcp-host/service'
import type { Model } from '../model.ts'
import { readLlmSettings } from '../settings/llm-settings.ts'
import type { Environment } from '../settings/read-key.ts'
import type { Models, ModelsDeps } from './models.ts'
import { createModels } from './models.ts'

export interface LiveModelsOptions extends ModelsDeps {
  readonly env: Environment
  /** The settings were read again; from now on they count. */
  readonly onChange: () => void
  /** They cannot be read, or not be watched: those before go on. */
  readonly onFailure: (error: unknown) => void
}

/** The models that may answer now: `llm.json` and files with keys are read again when they change. */
export class LiveModels implements Disposable {
  readonly #options: LiveModelsOptions
  #models: Models
  #watched = new DisposableStack()
  /** One after the other: the last content counts. */
  #reading = Promise.resolve()

  private constructor(options: LiveModelsOptions, models: Models, files: readonly string[]) {
    this.#options = options
    this.#models = models
    this.#watch(files)
  }

  /** Throws `ConfigError` with all that is wrong. */
  static async read(options: LiveModelsOptions): Promise<LiveModels> {
    const { config, env } = options
    const settings = readLlmSettings(config, env)
    return new LiveModels(options, await createModels(options, settings), settings.files)
  }

  /** As `Models.get`. What was got stays as it is. */
  get(reference?: string, avoid?: readonly string[]): Model {
    return this.#models.get(reference, avoid)
  }

  /** As `Models.list`. */
  list(): Promise<ProviderEntry[]> {
    return this.#models.list()
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

  async #readAgain(): Promise<void> {
    const { config, env, onChange, onFailure } = this.#options
    try {
      const settings = readLlmSettings(config, env)
      this.#models = await createModels(this.#options, settings)
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
