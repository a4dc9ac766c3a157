import type { CallToolResult, McpServer } from '@modelcontextprotocol/server'
import { z } from 'zod'

import { FileError } from '../access/file-error.ts'
import type { FileTree } from '../access/file-tree.ts'
import { showPath } from '../access/parse-path.ts'
import { mimeTypeOf } from '../content/mime-type.ts'
import { readBytes } from '../content/read-bytes.ts'
import { decodePage, isWithinCharacter, MAX_CHARACTER_BYTES } from '../content/text-page.ts'
import { PathField } from './fields.ts'
import { toResult } from './result.ts'

const Output = z.object({
  path: z.string(),
  encoding: z.enum(['text', 'base64']),
  content: z.string(),
  offset: z.number(),
  bytes: z.number().describe('The bytes of the file that content has'),
  size: z.number().describe('The bytes of the whole file'),
  mimeType: z.string(),
  nextOffset: z.number().optional().describe('Where the next page begins; missing at the end'),
})

export function registerFsRead(server: McpServer, tree: FileTree): void {
  const { maxReadBytes } = tree.limits
  const Input = z.object({
    path: PathField,
    encoding: z
      .enum(['text', 'base64'])
      .default('text')
      .describe('text for UTF-8, base64 for any other file'),
    offset: z.int().min(0).default(0).describe('The first byte to read; nextOffset of a page'),
    length: z
      .int()
      .min(MAX_CHARACTER_BYTES)
      .max(maxReadBytes)
      .default(maxReadBytes)
      .describe('The most bytes to read. Text may have up to three fewer.'),
  })
  server.registerTool(
    'fs_read',
    {
      title: 'Read a file',
      description: `Reads a file, at most ${maxReadBytes} bytes a call. A longer file has nextOffset.`,
      inputSchema: Input,
      outputSchema: Output,
      annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
    },
    (args, { mcpReq }) => readPage(tree, args, mcpReq.signal),
  )
}

interface ReadArguments {
  readonly path: string
  readonly encoding: 'text' | 'base64'
  readonly offset: number
  readonly length: number
}

function readPage(
  tree: FileTree,
  { path: given, encoding, offset, length }: ReadArguments,
  signal: AbortSignal,
): Promise<CallToolResult> {
  return tree.use(given, signal, async (path, stack) => {
    const place = await tree.open(path, stack)
    const { bytes, size } = await readBytes(place, given, { offset, length, signal })
    const isLast = offset + bytes.length >= size
    const page =
      encoding === 'base64'
        ? { text: bytes.toString('base64'), length: bytes.length }
        : decodeText(bytes, isLast, offset, given)
    const end = offset + page.length
    const output = {
      path: showPath(path.root, path.parts),
      encoding,
      content: page.text,
      offset,
      bytes: page.length,
      size,
      mimeType: mimeTypeOf(path.parts.at(-1) ?? ''),
      ...(end < size ? { nextOffset: end } : {}),
    } satisfies z.infer<typeof Output>
    const result = toResult(output, page.text)
    if (end >= size) return result
    const note = `Bytes ${offset} to ${end} of ${size}. The next page has the offset ${end}.`
    return { ...result, content: [...result.content, { type: 'text', text: note }] }
  })
}

function decodeText(
  bytes: Uint8Array,
  isLast: boolean,
  offset: number,
  given: string,
): { readonly text: string; readonly length: number } {
  const page = decodePage(bytes, isLast)
  if (page !== undefined) return page
  const remedy =
    offset > 0 && isWithinCharacter(bytes[0])
      ? `its byte ${offset} is within a character; use the nextOffset of the page before`
      : 'is no text in UTF-8; use the encoding "base64"'
  throw new FileError(given, remedy)
}
