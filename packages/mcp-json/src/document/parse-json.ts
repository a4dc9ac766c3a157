import {
  createScanner,
  type Node,
  type ParseError,
  parseTree,
  printParseErrorCode,
} from 'jsonc-parser'

import type { FaultList } from './fault-list.ts'

/** The depth limit for the recursive parser. The deepest known field is at level 7. */
export const MAX_DEPTH = 100

/** Parses JSON with comments and trailing commas. Adds errors to the faults. */
export function parseJson(text: string, faults: FaultList): Node | undefined {
  const tooDeep = findTooDeep(text)
  if (tooDeep !== undefined) {
    const message = `is nested more than ${MAX_DEPTH} levels deep`
    faults.add(tooDeep, '', message, 'Remove the levels below this place.')
    return undefined
  }
  const errors: ParseError[] = []
  const root = parseTree(text, errors, { allowTrailingComma: true })
  for (const { error, offset } of errors) {
    const words = printParseErrorCode(error).replaceAll(/(?<=[a-z])(?=[A-Z])/g, ' ')
    faults.add(offset, '', `is not valid JSON: ${words.toLowerCase()}`, 'Correct the syntax here.')
  }
  return root
}

/** The offset of the first bracket below the deepest allowed level. */
function findTooDeep(text: string): number | undefined {
  const scanner = createScanner(text, true)
  for (let depth = 0; ;) {
    scanner.scan()
    const offset = scanner.getTokenOffset()
    if (offset >= text.length) return undefined
    // No other token begins with a bracket: comments are skipped, strings begin with a quote.
    const first = text.charAt(offset)
    if (first === '{' || first === '[') depth += 1
    else if (first === '}' || first === ']') depth -= 1
    if (depth > MAX_DEPTH) return offset
  }
}
