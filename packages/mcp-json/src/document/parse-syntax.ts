import type { Node } from 'jsonc-parser'

import type { FaultList } from './fault-list.ts'
import { parseJson } from './parse-json.ts'
import { parseYaml } from './parse-yaml.ts'

/**
 * Parses a text as the name of its file says: YAML for `.yaml` and `.yml`, else JSON with comments and trailing commas.
 * Adds errors to the faults.
 */
export function parseSyntax(
  text: string,
  file: string | undefined,
  faults: FaultList,
): Node | undefined {
  return /\.ya?ml$/i.test(file ?? '') ? parseYaml(text, faults) : parseJson(text, faults)
}
