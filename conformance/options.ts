import { parseArgs } from 'node:util'
import { UsageError } from '../tools/command-line.ts'
import type { Cell } from './cells.ts'
import { CELLS, REQUIREMENTS, wordsOfCell } from './cells.ts'

export const USAGE = `Usage: npm run conformance -- [options] [words]

Runs the MCP conformance suite against a fixture server with all features, directly and through gateways, and
compares the results with conformance/totals.json. Runs all cells of the matrix, or those that have all the words:

  2025-11-25, 2026-07-28   requirement set of the suite
  direct, gateway          the server itself, or gateways in front of it
  stdio, http              transport between the supervisor and the server
  legacy, modern           revisions that the server supports: those before 2026-07-28, or that one
  x1, x2                   one gateway, or two that take requests in turn

  --server <command>
             test another server instead of the fixture. The command starts it; it serves both eras by HTTP at /mcp of
             the PORT in its environment. Results of gateways are compared with its own, so \`direct\` always runs
  --update   write the results of \`direct\` to totals.json, and compare the others with them
  --keep     keep the folder of logs and results even without differences
  --help     print this text

Exit code: 0 when all results are as expected, 1 otherwise, 2 for wrong options.
`

export interface ConformanceOptions {
  readonly cells: readonly Cell[]
  readonly isUpdate: boolean
  readonly isKept: boolean
  /** Starts another server instead of the fixture. */
  readonly command: string | undefined
}

/** Returns `undefined` when the usage is asked for. Throws for wrong options. */
export function parseOptions(args: readonly string[]): ConformanceOptions | undefined {
  const { values, positionals: words } = parseArgs({
    args: [...args],
    options: {
      update: { type: 'boolean', default: false },
      server: { type: 'string' },
      keep: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
    allowPositionals: true,
  })
  const { server: command, update: isUpdate, keep: isKept } = values
  const cells = CELLS.filter((cell) => {
    const ofCell = wordsOfCell(cell)
    const isSelected = words.every((word) => ofCell.includes(word))
    return command === undefined ? isSelected : isForGivenServer(cell, isSelected, words)
  })
  if (cells.length === 0) {
    throw new UsageError(`there is no cell with the words "${words.join(' ')}"`)
  }
  if (isUpdate && command !== undefined) {
    throw new UsageError('--update is for the fixture, not for --server')
  }
  if (isUpdate && !cells.some(({ target }) => target.kind === 'direct')) {
    throw new UsageError('--update needs a cell of "direct"')
  }
  return values.help ? undefined : { cells, isUpdate, isKept, command }
}

/** A server of `--server` only serves HTTP, and its results without a gateway are the expected ones. */
function isForGivenServer(
  { requirements, target }: Cell,
  isSelected: boolean,
  words: readonly string[],
): boolean {
  if (target.kind === 'gateway') return isSelected && target.transport === 'http'
  const others = REQUIREMENTS.filter((each) => words.includes(each))
  return others.length === 0 || others.includes(requirements)
}
