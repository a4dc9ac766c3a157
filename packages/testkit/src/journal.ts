import { readFile } from 'node:fs/promises'

/** A call that reached an MCP server. */
export interface JournalEntry {
  readonly tool: string
  readonly arguments: unknown
  /** The id of the server's process. */
  readonly pid: number
  /** The trace of the call. */
  readonly traceparent?: string
}

/** The calls that `toolServer` programs recorded in a file, in order. */
export async function readJournal(file: string): Promise<JournalEntry[]> {
  const lines = (await readFile(file, 'utf8')).split('\n').filter((line) => line !== '')
  return lines.map((line) => JSON.parse(line) as JournalEntry)
}
