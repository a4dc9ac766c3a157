import type { Environment, Logger } from '@mcp-host/process'
import { type ConfigFault, describeFault } from './document/configuration-error.ts'
import { watchFile } from '@mcp-host/process'
import { type AskInput, askInputs } from './ask-inputs.ts'
import { checkConfig } from './check-config.ts'
import type { ConfigInput } from './values/find-inputs.ts'
import { functionsOf } from './document/functions-of.ts'
import type { ServerConfig } from '@mcp-host/upstream'
import { loadMcpConfig } from './load-mcp-config.ts'
import type { McpConfig } from './mcp-config.ts'
import { parseMcpConfig, type ReadOptions } from './parse-mcp-config.ts'
import { isComplete, type WrittenConfig } from './written-config.ts'

export interface ConfigSourceDeps {
  readonly env: Environment
  readonly logger: Logger
  readonly askInput: AskInput | undefined
  readonly onWarning: (warning: ConfigFault) => void
  /** Called when the watched file has changed; undefined: no file is watched. */
  readonly onChange: (() => void) | undefined
}

/** A path, a configuration in the form of a file, or the result of an earlier read. */
export type ConfigGiven = string | WrittenConfig | McpConfig

/** The source of a host's configuration, for the start and for reloads. */
export class ConfigSource implements Disposable {
  readonly #deps: ConfigSourceDeps
  readonly #options: Pick<ReadOptions, 'strict' | 'workspaceFolder'>
  #path: string | undefined
  /** Earlier answers to `${input:id}`, so that no question is repeated. */
  #inputs: Readonly<Record<string, string>> = {}
  #watched: Disposable | undefined
  #isDisposed = false

  constructor(deps: ConfigSourceDeps, options: Pick<ReadOptions, 'strict' | 'workspaceFolder'>) {
    this.#deps = deps
    this.#options = options
  }

  /**
   * Reads a configuration; by default the followed file. A complete object is read synchronously, so that its servers
   * are listed before their start begins. Throws `ConfigurationError`.
   */
  read(config: ConfigGiven | undefined = this.#path): McpConfig | Promise<McpConfig> {
    if (config === undefined) {
      throw new Error('there is no file to read again: give a configuration')
    }
    if (typeof config !== 'string' && isComplete(config)) {
      checkConfig(config)
      return copyOf(config)
    }
    return this.#read(config).then((read) => {
      for (const fault of Object.values(read.faulty ?? {}).flat()) this.#warn(fault)
      return read
    })
  }

  /** Makes a file the default and watches it. Ignores an object. */
  follow(config: ConfigGiven | undefined): void {
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

  async #read(config: string | WrittenConfig): Promise<McpConfig> {
    const { env: variables, askInput } = this.#deps
    const options = {
      ...this.#options,
      inputs: this.#inputs,
      onWarning: (warning: ConfigFault) => this.#warn(warning),
    }
    const ask = askInput && ((input: ConfigInput) => this.#ask(askInput, input))
    if (typeof config === 'string') {
      return loadMcpConfig(config, variables, { ...options, ...(ask && { askInput: ask }) })
    }
    if (ask !== undefined) await askInputs(JSON.stringify(config), ask, this.#inputs)
    return parseMcpConfig(config, { ...options, inputs: this.#inputs, variables })
  }

  async #ask(askInput: AskInput, input: ConfigInput): Promise<string | undefined> {
    const answer = await askInput(input)
    if (answer !== undefined) this.#inputs = { ...this.#inputs, [input.id]: answer }
    return answer
  }

  #warn(warning: ConfigFault): void {
    this.#deps.logger.warn({ ...warning }, `configuration: ${describeFault(warning)}`)
    this.#deps.onWarning(warning)
  }
}

/** A copy that later changes do not reach. Functions and objects with functions stay the same. */
function copyOf({ servers, ...others }: McpConfig): McpConfig {
  const copies = Object.entries(servers).map(([name, server]) => {
    const fields = Object.entries(server).map(([field, value]) => {
      const isCode = typeof value === 'function' || Object.keys(functionsOf(value)).length > 0
      return [field, isCode ? value : structuredClone(value)] as const
    })
    // The same fields with equal values.
    return [name, Object.fromEntries(fields) as ServerConfig] as const
  })
  return { ...structuredClone(others), servers: Object.fromEntries(copies) }
}
