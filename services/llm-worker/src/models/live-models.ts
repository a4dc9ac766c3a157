import type { ProviderEntry } from '@mcp-host/contracts'
import { watchFile } from '@mcp-host/service'
import type { Model } from '../model.ts'
import { readLlmSettings } from '../settings/llm-settings.ts'
import type { Environment } from '../settings/read-key.ts'
import type { Models, ModelsDeps } from './models.ts'
import { createModels } from './models.ts'

export interface LiveModelsOptions extends ModelsDeps {
  readonly env: Environment
  /** Called after changed settings took effect. */
  readonly onChange: () => void
  /** Called when the settings cannot be read or watched. The previous ones stay in effect. */
  readonly onFailure: (error: unknown) => void
}

/** The available models. Reads `llm.json` and files with keys again when they change. */
export class LiveModels implements Disposable {
  readonly #options: LiveModelsOptions
  #models: Models
  #watched = new DisposableStack()
  /** The queue of reads, one after the other, so that the last content takes effect. */
  #reading = Promise.resolve()

  private constructor(options: LiveModelsOptions, models: Models, files: readonly string[]) {
    this.#options = options
    this.#models = models
    this.#watch(files)
  }

  /** Throws `ConfigError` with all faults. */
  static async read(options: LiveModelsOptions): Promise<LiveModels> {
    const { config, env } = options
    const settings = readLlmSettings(config, env)
    return new LiveModels(options, await createModels(options, settings), settings.files)
  }

  /** Like `Models.get`. A model that was returned earlier does not change. */
  get(reference?: string, avoid?: readonly string[]): Model {
    return this.#models.get(reference, avoid)
  }

  /** Like `Models.list`. */
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
