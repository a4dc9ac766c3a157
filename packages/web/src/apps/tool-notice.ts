import type { ToolResult } from '../state/turn.ts'

type Block = Readonly<Record<string, unknown>>

interface StoredFile {
  readonly key: string
  readonly bytes: number
}

/** A larger result is given to an app as its beginning, and without the files beyond. */
const MAX_RESULT_BYTES = 8 * 1024 * 1024

/** What an app is told of the end of its call: the method and parameters of a notice. */
export interface ToolNotice {
  readonly method: string
  readonly params: object
}

/** Reads a file of the session. */
export type ReadFile = (key: string) => Promise<Blob>

/** The notice of a result. Parts that the host keeps as files are read. */
export async function toolNotice(result: ToolResult, read: ReadFile): Promise<ToolNotice> {
  const { outcome, error } = result
  if (outcome !== 'ok' && outcome !== 'error') {
    const params = { reason: error?.message ?? outcome }
    return { method: 'ui/notifications/tool-cancelled', params }
  }
  const { content, structuredContent } = await wholeResult(result, read)
  const blocks = await readBlocks(content, read)
  const failure = error === undefined ? [] : [{ type: 'text', text: error.message }]
  const isObject =
    typeof structuredContent === 'object' &&
    structuredContent !== null &&
    !Array.isArray(structuredContent)
  return {
    method: 'ui/notifications/tool-result',
    params: {
      content: [...failure, ...blocks],
      ...(isObject ? { structuredContent } : {}),
      ...(outcome === 'error' ? { isError: true } : {}),
    },
  }
}

async function wholeResult(
  result: ToolResult,
  read: ReadFile,
): Promise<Pick<ToolResult, 'content' | 'structuredContent'>> {
  const { blob } = result
  if (blob === undefined || blob.bytes > MAX_RESULT_BYTES) return result
  // The supervisor wrote it in this form.
  return JSON.parse(await (await read(blob.key)).text()) as ToolResult
}

/** The blocks with their bytes, which the host may keep as files. */
async function readBlocks(content: readonly Block[], read: ReadFile): Promise<Block[]> {
  const blocks: Block[] = []
  let left = MAX_RESULT_BYTES
  // One after another, so that only one file is in memory twice.
  for (const block of content) {
    const { stored } = (block['resource'] ?? block) as { readonly stored?: StoredFile }
    left -= stored?.bytes ?? 0
    if (stored === undefined) blocks.push(block)
    else if (left < 0) blocks.push(tooLarge(stored))
    else blocks.push(withBytes(block, await base64Of(await read(stored.key))))
  }
  return blocks
}

function tooLarge({ bytes }: StoredFile): Block {
  return { type: 'text', text: `(A file of ${bytes} bytes is too large for an app.)` }
}

function withBytes(block: Block, bytes: string): Block {
  const { resource } = block as { readonly resource?: Block }
  if (resource !== undefined) return { ...block, resource: { ...resource, blob: bytes } }
  return { ...block, data: bytes }
}

/** More arguments of a function would overflow the stack. */
const CHUNK = 0x8000

async function base64Of(file: Blob): Promise<string> {
  const bytes = new Uint8Array(await file.arrayBuffer())
  let text = ''
  for (let start = 0; start < bytes.length; start += CHUNK) {
    text += String.fromCharCode(...bytes.subarray(start, start + CHUNK))
  }
  return btoa(text)
}
