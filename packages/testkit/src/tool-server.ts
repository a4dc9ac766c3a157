import { join } from 'node:path'

/** A tool of the fixture server and its behaviour. */
export interface ToolScript {
  readonly name: string
  readonly description?: string
  readonly inputSchema: Readonly<Record<string, unknown>>
  readonly annotations?: Readonly<Record<string, boolean>>
  /** The text of the result; default: the arguments as JSON. */
  readonly answer?: string
  /** Whether the result is an error of the tool. */
  readonly isError?: boolean
  /** The delay before the result. */
  readonly delayMs?: number
  /** The length of the text of the result, instead of `answer`. */
  readonly bytes?: number
  /** The size of an image that is added to the result. */
  readonly pictureBytes?: number
  /** Content blocks that are added to the result. */
  readonly content?: readonly object[]
  /** How many progress notifications precede the result, if the caller wants progress. */
  readonly notices?: number
  /** The total and the message of each progress notification. */
  readonly notice?: { readonly total?: number; readonly message?: string }
  /** The delay after each progress notification. */
  readonly noticeMs?: number
  /** The number of numbered lines of the result, instead of `answer`. */
  readonly lines?: number
}

/** An `mcp.json` entry for a server with these tools, which records each call in a file. */
export function toolServer(
  tools: readonly ToolScript[],
  journalFile: string,
): { readonly command: string; readonly args: readonly [program: string, ...string[]] } {
  const program = join(import.meta.dirname, '..', 'fixtures', 'tool-server.ts')
  return { command: process.execPath, args: [program, JSON.stringify(tools), journalFile] }
}
