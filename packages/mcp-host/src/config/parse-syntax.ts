import { type Node, type ParseError, parseTree, printParseErrorCode } from 'jsonc-parser'

import type { FaultList } from './fault-list.ts'

/** Parses JSON with comments and trailing commas. Errors are in the faults. */
export function parseSyntax(text: string, faults: FaultList): Node | undefined {
  const errors: ParseError[] = []
  const root = parseTree(text, errors, { allowTrailingComma: true })
  for (const { error, offset } of errors) {
    const words = printParseErrorCode(error).replaceAll(/(?<=[a-z])(?=[A-Z])/g, ' ')
    faults.add(offset, '', `is not valid JSON: ${words.toLowerCase()}`, 'Correct the syntax here.')
  }
  return root
}
