import { join } from 'node:path'

/** A tool of the fixture server and what it does. */
export interface ToolScript {
  readonly name: string
  readonly description?: string
  readonly inputSchema: Readonly<Record<string, unknown>>
  readonly annotations?: Readonly<Record<string, boolean>>
  /** Answered text; default: the arguments as JSON. */
  readonly answer?: string
  /** Answered as a tool's own error. */
  readonly isError?: boolean
  /** Waits before it answers. */
  readonly delayMs?: number
  /** Answers with that much text. */
  readonly bytes?: number
  /** Answers with a picture of so many bytes as well. */
  readonly pictureBytes?: number
  /** Reports progress so many times before it answers, where it is asked for. */
  readonly notices?: number
  /** Waits after each of them. */
  readonly noticeMs?: number
  /** Answers with so many numbered lines. */
  readonly lines?: number
}

/** An `mcp.json` entry for a server with these tools, which notes each call in a file. */
export function toolServer(tools: readonly ToolScript[], journalFile: string): object {
  const program = join(import.meta.dirname, '..', 'fixtures', 'tool-server.ts')
  return { command: process.execPath, args: [program, JSON.stringify(tools), journalFile] }
}
