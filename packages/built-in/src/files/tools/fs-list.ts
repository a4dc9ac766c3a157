import type { CallToolResult, McpServer } from '@modelcontextprotocol/server'
import { z } from 'zod'

import type { FileTree } from '../access/file-tree.ts'
import { type RootedPath, showPath } from '../access/parse-path.ts'
import { parseCursor, toCursor } from '../content/cursor.ts'
import { type Entry, walkTree } from '../content/walk-tree.ts'
import { CursorField, EntryTypeField, PathField } from './fields.ts'
import { inOneLine, toResult } from './result.ts'

const DEFAULT_ENTRIES = 200
const MAX_ENTRIES = 1_000

const Input = z.object({
  path: PathField.optional().describe('A folder. Without it the roots are listed.'),
  depth: z
    .int()
    .min(1)
    .max(100)
    .default(1)
    .describe('Levels of entries; 1 for the entries of the folder alone'),
  cursor: CursorField,
  limit: z.int().min(1).max(MAX_ENTRIES).default(DEFAULT_ENTRIES).describe('Entries of a page'),
})

const Output = z.object({
  entries: z.array(
    z.object({
      path: z.string(),
      type: EntryTypeField,
      size: z.number().optional(),
      modified: z.iso.datetime().optional(),
      isReadOnly: z.boolean().optional().describe('Of roots'),
    }),
  ),
  nextCursor: z.string().optional().describe('Missing on the last page'),
  unreadableFolders: z.array(z.string()).describe('Folders whose entries are not listed'),
})

type ListOutput = z.infer<typeof Output>
type ListedEntry = ListOutput['entries'][number]

export function registerFsList(server: McpServer, tree: FileTree): void {
  server.registerTool(
    'fs_list',
    {
      title: 'List a folder',
      description:
        'Lists the entries of a folder by pages, or the roots. Symbolic links are listed, and not followed.',
      inputSchema: Input,
      outputSchema: Output,
      annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
    },
    ({ path, ...page }, { mcpReq }) =>
      path === undefined ? listRoots(tree) : list(tree, path, page, mcpReq.signal),
  )
}

function listRoots({ roots }: FileTree): CallToolResult {
  const entries = roots.map(({ name, readOnly = false }) => ({
    path: name,
    type: 'folder' as const,
    isReadOnly: readOnly,
  }))
  return toListResult({ entries, unreadableFolders: [] })
}

function list(
  tree: FileTree,
  given: string,
  { depth, cursor, limit }: Pick<z.infer<typeof Input>, 'depth' | 'cursor' | 'limit'>,
  signal: AbortSignal,
): Promise<CallToolResult> {
  return tree.use(given, signal, async (path, stack) => {
    const after = parseCursor(cursor, given)
    const folder = await tree.open(path, stack)
    tree.checkFolder(folder, given)
    const unreadableFolders: string[] = []
    const entries: ListedEntry[] = []
    const walk = walkTree(tree, folder, {
      depth: Math.min(depth, tree.limits.maxDepth - path.parts.length),
      after,
      limit,
      given,
      signal,
      onUnreadable: (parts) => {
        if (unreadableFolders.length >= limit) return
        unreadableFolders.push(showPath(path.root, [...path.parts, ...parts]))
      },
    })
    let last = after
    for await (const entry of walk) {
      if (entries.length >= limit) {
        return toListResult({ entries, nextCursor: toCursor(last), unreadableFolders })
      }
      entries.push(toListed(path, entry))
      last = entry.parts
    }
    return toListResult({ entries, unreadableFolders })
  })
}

function toListed({ root, parts: base }: RootedPath, { parts, type, stats }: Entry): ListedEntry {
  const listed = { path: showPath(root, [...base, ...parts]), type }
  if (type !== 'file') return listed
  return { ...listed, size: Number(stats.size), modified: stats.mtime.toISOString() }
}

function toListResult(output: ListOutput): CallToolResult {
  const lines = output.entries.map(({ path, type, size }) => {
    const mark = type === 'folder' ? '/' : type === 'file' ? ` ${size} bytes` : ` (${type})`
    return inOneLine(path) + mark
  })
  const more = output.nextCursor === undefined ? [] : [`More with the cursor ${output.nextCursor}`]
  const unreadable = output.unreadableFolders.map((path) => `Cannot be read: ${inOneLine(path)}`)
  const all = [...lines, ...unreadable, ...more]
  return toResult(output, all.length === 0 ? 'The folder is empty.' : all.join('\n'))
}
