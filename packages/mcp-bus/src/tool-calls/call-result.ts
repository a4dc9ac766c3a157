import type { ErrorCode, ToolFinished } from '@mcp-host/contracts'
import { blockText, BusError, mediaOf } from '@mcp-host/contracts'
import type { CallToolResult, McpHostErrorCode } from '@mcp-host/upstream'
import { McpHostError, ServerUnavailableError } from '@mcp-host/upstream'
import { truncate } from '../truncate.ts'
import { encodeResult } from './encode-result.ts'
import type { Store } from './store-media.ts'
import { storeMedia, withoutStored } from './store-media.ts'

/** The size above which results go into the object store, since they do not fit into one message. */
export const MAX_INLINE_BYTES = 512 * 1024

/** The size above which results are not stored. */
export const MAX_RESULT_BYTES = 64 * 1024 * 1024

/** The largest number of images and files beside the excerpt of a large result. */
const MAX_SHOWN = 100

/** The length of the excerpt of a large result in the log, in UTF-16 units. */
export const EXCERPT_LENGTH = 64 * 1024

type Outcome = Omit<ToolFinished, 'type' | 'call' | 'server' | 'tool' | 'durationMs'>
type Content = ToolFinished['content']

/**
 * Prepares a result for the log. Pictures and files of a large result are stored one by one. A result that is still too
 * large is stored as `{content, structuredContent}` in JSON, and the log gets an excerpt. When it cannot be stored,
 * only the excerpt remains.
 */
export async function fromResult(
  { content, structuredContent, isError }: CallToolResult,
  store: Store,
): Promise<Outcome> {
  const outcome = isError === true ? ('error' as const) : ('ok' as const)
  const result = {
    content: withoutStored(content ?? []),
    // The value came as JSON, so it can be serialised.
    ...(structuredContent === undefined
      ? {}
      : { structuredContent: structuredContent as Outcome['structuredContent'] }),
  }
  const json = await encodeResult(result)
  if (json.length <= MAX_INLINE_BYTES) return { outcome, ...result }
  if (json.length > MAX_RESULT_BYTES) {
    const message = `the result has ${json.length} bytes, more than the ${MAX_RESULT_BYTES} that can be kept; ask for less at a time`
    return fromError(new BusError('exhausted', message))
  }
  const light = { ...result, content: await storeMedia(result.content, store) }
  const rest = await encodeResult(light)
  if (rest.length <= MAX_INLINE_BYTES) return { outcome, ...light }
  const stored = light.content.filter(isStored).slice(0, MAX_SHOWN)
  const blob = await store(rest, 'application/json')
  return {
    outcome,
    content: [...excerpt(light.content, rest), ...stored],
    ...(blob === undefined ? {} : { blob }),
  }
}

function isStored(block: Content[number]): boolean {
  return mediaOf(block)?.blob !== undefined
}

function excerpt(content: Content, json: Uint8Array): Content {
  const text =
    content.length === 0
      ? new TextDecoder().decode(json.subarray('{"content":[],"structuredContent":'.length, -1))
      : content.map(blockText).join('\n')
  const shown = text.slice(0, EXCERPT_LENGTH).toWellFormed()
  const note = `… (the first ${shown.length} of ${text.length} characters of a result of ${json.length} bytes; ask for less at a time)`
  return [
    { type: 'text', text: shown },
    { type: 'text', text: note },
  ]
}

const CODES: Record<McpHostErrorCode, ErrorCode> = {
  configuration: 'internal',
  'server-startup': 'unavailable',
  'server-unavailable': 'unavailable',
  validation: 'invalid',
  timeout: 'deadline',
  protocol: 'internal',
  'tool-execution': 'internal',
}

/** The outcome for a failure of the host, in words for the model. */
export function fromError(error: unknown): Outcome {
  const known =
    error instanceof McpHostError
      ? new BusError(CODES[error.code], error.message, { cause: error })
      : BusError.from(error)
  const info = known.toInfo()
  const isUnknown = error instanceof ServerUnavailableError && error.isOutcomeUnknown
  return {
    outcome: 'error',
    ...(isUnknown ? { isOutcomeUnknown: true } : {}),
    content: [],
    error: { ...info, message: truncate(info.message) },
  }
}
