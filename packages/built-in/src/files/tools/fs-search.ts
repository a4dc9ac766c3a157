import type { CallToolResult, McpServer } from '@modelcontextprotocol/server'
import { z } from 'zod'

import type { FileTree } from '../access/file-tree.ts'
import { parseCursor } from '../content/cursor.ts'
import { globMatcher } from '../content/glob.ts'
import { LineSearch } from '../content/line-search.ts'
import { searchFiles, type SearchResult } from '../content/search-files.ts'
import { CursorField, EntryTypeField, PathField } from './fields.ts'
import { inOneLine, toResult } from './result.ts'

const DEFAULT_FILES = 100
const MAX_FILES = 500

const Input = z.object({
  path: PathField.describe('The folder to search, with everything below it'),
  pattern: z
    .string()
    .min(1)
    .max(500)
    .default('**')
    .describe('A glob such as *.ts, or src/**/*.{ts,tsx} for paths below the folder'),
  text: z.string().min(1).max(1_000).optional().describe('Text in a line of the files'),
  regex: z.boolean().default(false).describe('Whether text is a regular expression'),
  ignoreCase: z.boolean().default(false).describe('Whether text matches in any case'),
  cursor: CursorField,
  limit: z.int().min(1).max(MAX_FILES).default(DEFAULT_FILES).describe('Files of a page'),
})

const Output = z.object({
  files: z.array(
    z.object({
      path: z.string(),
      type: EntryTypeField,
      matchCount: z.number().optional().describe('Lines that match'),
      matches: z
        .array(z.object({ line: z.number(), text: z.string() }))
        .optional()
        .describe('The first lines that match, each cut to 200 characters'),
    }),
  ),
  isComplete: z
    .boolean()
    .describe('Whether this page is the last one and left nothing out; otherwise notes say why'),
  nextCursor: z.string().optional(),
  notes: z.array(z.string()),
})

export function registerFsSearch(server: McpServer, tree: FileTree): void {
  server.registerTool(
    'fs_search',
    {
      title: 'Search files',
      description:
        'Finds files by their names, and lines of text in them. Symbolic links are not followed, and files that are no text have no lines.',
      inputSchema: Input,
      outputSchema: Output,
      annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
    },
    (args, { mcpReq }) => search(tree, args, mcpReq.signal),
  )
}

function search(
  tree: FileTree,
  { path: given, pattern, text, regex, ignoreCase, cursor, limit }: z.infer<typeof Input>,
  signal: AbortSignal,
): Promise<CallToolResult> {
  return tree.use(given, signal, async (path, stack) => {
    const linePattern = text === undefined ? undefined : { text, isRegex: regex, ignoreCase }
    const lines =
      linePattern === undefined
        ? undefined
        : stack.use(new LineSearch(linePattern, tree.limits.matchLimitMs))
    const options = {
      path,
      isMatch: globMatcher(pattern),
      lines,
      after: parseCursor(cursor, given),
      limit,
      signal,
    }
    return toSearchResult(await searchFiles(tree, options, stack))
  })
}

function toSearchResult(result: SearchResult): CallToolResult {
  const lines = result.files.flatMap(({ path, matchCount, matches = [] }) => [
    inOneLine(path) + (matchCount === undefined ? '' : ` (${matchCount})`),
    ...matches.map(({ line, text }) => `  ${line}: ${inOneLine(text)}`),
  ])
  const notes = result.notes.map((note) => `Not complete: ${note}`)
  const more = result.nextCursor === undefined ? [] : [`More with the cursor ${result.nextCursor}`]
  const all = [...lines, ...notes, ...more]
  return toResult({ ...result }, all.length === 0 ? 'Nothing matches.' : all.join('\n'))
}
