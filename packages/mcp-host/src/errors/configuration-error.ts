import { McpHostError } from './mcp-host-error.ts'

/** One thing that is wrong in the configuration, and what to do about it. */
export interface ConfigFault {
  /** The file; absent when the configuration was handed over as an object. */
  readonly file?: string
  /** Counted from 1; absent together with `file`. */
  readonly line?: number
  /** Counted from 1, in UTF-16 units; absent together with `file`. */
  readonly column?: number
  /** The field, as in `servers.web.args[1]`; empty for the file as a whole. */
  readonly path: string
  readonly message: string
  readonly remedy: string
}

/** The configuration is faulty; nothing was started. Carries every fault at once. */
export class ConfigurationError extends McpHostError {
  override readonly code = 'configuration'
  readonly faults: readonly ConfigFault[]

  constructor(faults: readonly ConfigFault[]) {
    const count = faults.length === 1 ? 'one fault' : `${faults.length} faults`
    super([`the MCP configuration has ${count}:`, ...faults.map(describe)].join('\n'))
    this.faults = faults
  }
}

function describe({ file, line, column, path, message, remedy }: ConfigFault): string {
  const where = file === undefined ? '' : `${file}:${line}:${column} `
  const field = path === '' ? '' : `${path}: `
  return `  ${where}${field}${message}. ${remedy}`
}
