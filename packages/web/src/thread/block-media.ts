import { objectOf } from '../state/object-of.ts'

/** A content block of MCP. */
export type Block = Readonly<Record<string, unknown>>

/** Bytes in a content block. */
export interface BlockMedia {
  /** Formats outside of the lists of `PICTURE` and `SOUND` are only offered for download. */
  readonly kind: 'picture' | 'sound' | 'file'
  /** Address of the bytes: within the page, or where the host keeps them. */
  readonly url: string
  readonly name: string
  /** As the tool names it. */
  readonly mimeType: string
}

const WITH_BYTES = new Set<unknown>(['image', 'audio', 'resource'])
const PICTURE = /^image\/(?:png|jpeg|gif|webp)$/
const SOUND = /^audio\/(?:aac|flac|mp4|mpeg|ogg|wav|webm|x-wav)$/
const BASE64 = /^[\w+/=\s]*$/

/**
 * The bytes of a block of type `image`, `audio` or `resource`; `undefined` without any. `fileUrl`: the address of what
 * the host keeps under a key.
 */
export function mediaOf(block: Block, fileUrl: (key: string) => string): BlockMedia | undefined {
  if (!WITH_BYTES.has(block['type'])) return undefined
  const source = block['type'] === 'resource' ? objectOf(block['resource']) : block
  const mimeType = textOf(source['mimeType'])
  const type = mimeType.toLowerCase()
  const kind = PICTURE.test(type) ? 'picture' : SOUND.test(type) ? 'sound' : 'file'
  const url = urlOf(source, kind === 'file' ? 'application/octet-stream' : type, fileUrl)
  if (url === undefined) return undefined
  return { kind, url, mimeType, name: fileName(textOf(source['uri'])) }
}

/** The last part of the path, without characters that hide its end or lead to another folder. */
function fileName(uri: string): string {
  const last = URL.parse(uri)?.pathname.split('/').at(-1) ?? ''
  try {
    return decodeURIComponent(last).replaceAll(/[\p{C}/\\]/gu, '') || 'file'
  } catch {
    // It is not encoded as an address should be.
    return 'file'
  }
}

function urlOf(
  { data, blob = data, stored }: Block,
  type: string,
  fileUrl: (key: string) => string,
): string | undefined {
  if (typeof blob === 'string' && BASE64.test(blob)) return `data:${type};base64,${blob}`
  const { key } = objectOf(stored)
  return typeof key === 'string' ? fileUrl(key) : undefined
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** What a tool answered, as one text: its text blocks, or else its structured content as JSON. */
export function textOfResult({
  content,
  structuredContent,
}: {
  readonly content: readonly Block[]
  readonly structuredContent?: unknown
}): string {
  const texts = content.flatMap((block) => (block['type'] === 'text' ? textOf(block['text']) : []))
  if (texts.length > 0 || structuredContent === undefined) return texts.join('\n')
  return JSON.stringify(structuredContent, undefined, 2)
}
