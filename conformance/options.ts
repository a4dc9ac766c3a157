import { parseArgs } from 'node:util'
import type { Cell } from './cells.ts'
import { CELLS, REQUIREMENTS, wordsOfCell } from './cells.ts'

export const USAGE = `Usage: npm run conformance -- [options] [words]

Runs the MCP conformance suite against a server that has all it looks for, directly and through gateways, and
compares what passes with conformance/totals.json. All cells of the matrix, or those that have all the words:

  2025-11-25, 2026-07-28   what the suite requires
  direct, gateway          the server itself, or gateways in front of it
  stdio, http              how the supervisor reaches the server
  legacy, modern           what the server speaks: the revisions before 2026-07-28, or that one
  x1, x2                   one gateway, or two that take requests in turn

  --server <command>
             another server in place of ours: started by the command, it serves both eras by HTTP at /mcp of the PORT
             in its environment. Gateways are compared with what it comes to itself, so \`direct\` always runs
  --update   write what \`direct\` yields to totals.json, and compare the rest with that
  --keep     keep the folder of logs and results also when all is well
  --help     this text

Exit code: 0 when all is as expected, 1 when not, 2 for faulty options.`

export interface ConformanceOptions {
  readonly cells: readonly Cell[]
  readonly isUpdate: boolean
  readonly isKept: boolean
  /** Starts the server, in place of the fixture. */
  readonly command: string | undefined
}

export type ParsedOptions =
  | { readonly isHelp: boolean; readonly options: ConformanceOptions }
  | { readonly problem: string }

export function parseOptions(args: readonly string[]): ParsedOptions {
  let parsed
  try {
    parsed = parseArgs({
      args: [...args],
      options: {
        update: { type: 'boolean', default: false },
        server: { type: 'string' },
        keep: { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h', default: false },
      },
      allowPositionals: true,
    })
  } catch (error) {
    // It says which option is not known.
    return { problem: (error as Error).message }
  }
  const { values, positionals: words } = parsed
  const { server: command } = values
  const cells = CELLS.filter((cell) => {
    const ofCell = wordsOfCell(cell)
    const isMeant = words.every((word) => ofCell.includes(word))
    return command === undefined ? isMeant : isOfGiven(cell, isMeant, words)
  })
  if (cells.length === 0) return { problem: `there is no cell with the words "${words.join(' ')}"` }
  const isDirectThere = cells.some(({ target }) => target.kind === 'direct')
  if (values.update && command !== undefined) {
    return { problem: '--update is for the fixture, not for --server' }
  }
  if (values.update && !isDirectThere) return { problem: '--update needs a cell of "direct"' }
  return {
    isHelp: values.help,
    options: { cells, isUpdate: values.update, isKept: values.keep, command },
  }
}

/** A server that was given has HTTP alone; the others are compared with what it comes to directly. */
function isOfGiven(
  { requirements, target }: Cell,
  isMeant: boolean,
  words: readonly string[],
): boolean {
  if (target.kind === 'gateway') return isMeant && target.transport === 'http'
  const others = REQUIREMENTS.filter((each) => words.includes(each))
  return others.length === 0 || others.includes(requirements)
}
