import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'

import { decodeText, readFault } from '@mcp-host/json'
import { ConfigurationError } from './document/configuration-error.ts'
import type { Environment } from '@mcp-host/process'
import { type AskInput, askInputs } from './ask-inputs.ts'
import type { McpConfig } from './mcp-config.ts'
import { parseMcpConfig, type ParseOptions, type ReadOptions } from './parse-mcp-config.ts'

export interface LoadOptions extends ReadOptions, Pick<ParseOptions, 'inputs'> {
  /** Called for each `${input:id}` that is used and not in `inputs`. */
  readonly askInput?: AskInput
}

/**
 * Reads an `mcp.json`, or a YAML file (`.yaml`, `.yml`) of the same form. `variables` are the values of `${NAME}`,
 * mostly `process.env`. Throws `ConfigurationError` with every fault at once, also when the file cannot be read.
 */
export async function loadMcpConfig(
  path: string,
  variables: Environment,
  { askInput, inputs = {}, ...options }: LoadOptions = {},
): Promise<McpConfig> {
  const file = resolve(path)
  let text: string
  try {
    text = decodeText(await readFile(file))
  } catch (error) {
    const message = readFault(error)
    const remedy = 'Create it, or give the path of another.'
    throw new ConfigurationError([{ file, line: 1, column: 1, path: '', message, remedy }])
  }
  const answers = askInput === undefined ? inputs : await askInputs(text, askInput, inputs, file)
  return parseMcpConfig(text, { ...options, inputs: answers, file, variables })
}
