import { ConfigError } from '@mcp-host/service'
import { plain } from './plain.ts'

/** An error that the user can act on. It is printed without its stack. */
export class CommandError extends Error {
  override readonly name: string = 'CommandError'
}

/** Wrong options or arguments. Printed with the usage; the exit code is 2. */
export class UsageError extends CommandError {
  override readonly name = 'UsageError'
}

export interface Command<Options> {
  readonly usage: string
  /** Returns `undefined` when `--help` is given. Throws `UsageError`, or the error of `parseArgs`. */
  readonly parse: (args: string[]) => Options | undefined
  /** Resolves with the exit code. */
  readonly run: (options: Options) => Promise<number>
}

/** Runs a command with the arguments of this process, prints its error and sets the exit code. */
export async function runCommand<Options>({ usage, parse, run }: Command<Options>): Promise<void> {
  try {
    const options = parse(process.argv.slice(2))
    if (options === undefined) process.stdout.write(usage)
    else process.exitCode = await run(options)
  } catch (error) {
    // Errors of the system, of Node and of the bus have a code and need no stack; neither do errors of `parseArgs`.
    const isCoded = error instanceof Error && 'code' in error
    const isUsage = error instanceof UsageError || (isCoded && error instanceof TypeError)
    const isKnown = isCoded || error instanceof CommandError || error instanceof ConfigError
    const text = isKnown ? error.message : String(error instanceof Error ? error.stack : error)
    process.stderr.write(plain(isUsage ? `${text}\n\n${usage}` : `${text}\n`))
    process.exitCode = isUsage ? 2 : 1
  }
}
