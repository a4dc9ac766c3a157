import { McpHostError } from '@mcp-host/upstream'

/** A fault in the configuration, with its remedy. */
export interface ConfigFault {
  /** The file; absent when the configuration is an object. */
  readonly file?: string
  /** Counted from 1; absent when the configuration is an object. */
  readonly line?: number
  /** Counted from 1, in UTF-16 units; absent together with `line`. */
  readonly column?: number
  /** The field, as in `servers.web.args[1]`; empty for the file as a whole. */
  readonly path: string
  readonly message: string
  readonly remedy: string
}

/** The configuration is faulty, and nothing was started. Carries every fault. */
export class ConfigurationError extends McpHostError {
  override readonly code = 'configuration'
  readonly faults: readonly ConfigFault[]

  constructor(faults: readonly ConfigFault[]) {
    const count = faults.length === 1 ? 'one fault' : `${faults.length} faults`
    super(
      [
        `the MCP configuration has ${count}:`,
        ...faults.map((fault) => `  ${describeFault(fault)}`),
      ].join('\n'),
    )
    this.faults = faults
  }
}

/** A fault or warning as one line: its place, field, description and remedy. */
export function describeFault(fault: ConfigFault): string {
  const { file, line, column, path, message, remedy } = fault
  const place = [file, line, column].filter((part) => part !== undefined).join(':')
  const field = path === '' ? '' : `${path}: `
  return `${place === '' ? '' : `${place} `}${field}${message}. ${remedy}`
}
