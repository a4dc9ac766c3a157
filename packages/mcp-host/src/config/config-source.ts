import type { Environment } from '../environment.ts'
import type { Logger } from '../logger.ts'
import { watchFile } from '../watch-file.ts'
import { checkConfig } from './check-config.ts'
import { loadMcpConfig } from './load-mcp-config.ts'
import type { McpConfig } from './mcp-config.ts'

export interface ConfigSourceDeps {
  readonly env: Environment
  readonly logger: Logger
  /** Called when the watched file has changed; undefined: no file is watched. */
  readonly onChange: (() => void) | undefined
}

/** Where a host reads its configuration, at first and for each reload. */
export class ConfigSource implements Disposable {
  readonly #deps: ConfigSourceDeps
  #path: string | undefined
  #watched: Disposable | undefined
  #isDisposed = false

  constructor(deps: ConfigSourceDeps) {
    this.#deps = deps
  }

  /**
   * Reads a configuration, by default the file that is followed. A complete object is read at once,
   * so that its servers are listed before their start begins. Throws `ConfigurationError`.
   */
  read(config: string | McpConfig | undefined = this.#path): McpConfig | Promise<McpConfig> {
    if (config === undefined) {
      throw new Error('there is no file to read again: give a configuration')
    }
    if (typeof config === 'string') return loadMcpConfig(config, this.#deps.env)
    checkConfig(config)
    return structuredClone(config)
  }

  /** Makes a file the one that is read by default and watched. Ignores an object. */
  follow(config: string | McpConfig | undefined): void {
    if (typeof config !== 'string' || config === this.#path || this.#isDisposed) return
    this.#path = config
    const { onChange, logger } = this.#deps
    if (onChange === undefined) return
    this.#watched?.[Symbol.dispose]()
    this.#watched = watchFile(config, onChange, (err) => {
      logger.error({ path: config, err }, 'the configuration file cannot be watched')
    })
  }

  [Symbol.dispose](): void {
    this.#isDisposed = true
    this.#watched?.[Symbol.dispose]()
  }
}
