import type { ReactNode } from 'react'
import { useContext, useState } from 'react'
import { FileUrls } from '../state/file-urls.ts'
import type { ToolResult } from '../state/turn.ts'
import { pretty } from '../state/pretty.ts'

/** A longer text is shown by pages of this length, in characters. */
const PAGE = 4_000
const PICTURE = /^image\/(?:png|jpeg|gif|webp)$/
const BASE64 = /^[\w+/=\s]*$/

type Block = Readonly<Record<string, unknown>>

/** What a tool answered, by the types of its parts. */
export function ToolContent({
  result,
  session,
}: {
  readonly result: ToolResult
  readonly session: string
}): ReactNode {
  const { content, structuredContent, error, blob } = result
  const hasText = content.some((block) => block['type'] === 'text')
  return (
    <>
      <h3>Result</h3>
      {error !== undefined && <p className="note bad">{error.message}</p>}
      {content.map((block, index) => (
        <ContentBlock key={index} block={block} session={session} />
      ))}
      {structuredContent !== undefined && content.length === 0 && (
        <LongText text={pretty(structuredContent)} />
      )}
      {structuredContent !== undefined && content.length > 0 && !hasText && (
        <details>
          <summary>Structured result</summary>
          <LongText text={pretty(structuredContent)} />
        </details>
      )}
      {blob !== undefined && (
        <p className="note">This is the beginning: the whole result has {blob.bytes} bytes.</p>
      )}
      {content.length === 0 && structuredContent === undefined && error === undefined && (
        <p className="note">The tool answered nothing.</p>
      )}
    </>
  )
}

function ContentBlock({
  block,
  session,
}: {
  readonly block: Block
  readonly session: string
}): ReactNode {
  const fileUrl = useContext(FileUrls)
  if (block['type'] === 'text') return <LongText text={String(block['text'])} />
  if (block['type'] === 'image') {
    const source = pictureSource(block, (key) => fileUrl(session, key))
    if (source !== undefined) return <img src={source} alt="Result of the tool" loading="lazy" />
  }
  return <LongText text={pretty(block)} />
}

/** The picture itself, or the address under which the host keeps a large one. */
function pictureSource(
  { mimeType, data, stored }: Block,
  fileUrl: (key: string) => string,
): string | undefined {
  if (typeof mimeType !== 'string' || !PICTURE.test(mimeType)) return undefined
  if (typeof data === 'string' && BASE64.test(data)) return `data:${mimeType};base64,${data}`
  const key = (stored as { readonly key?: unknown } | undefined)?.key
  return typeof key === 'string' ? fileUrl(key) : undefined
}

function LongText({ text }: { readonly text: string }): ReactNode {
  const [length, setLength] = useState(PAGE)
  const rest = text.length - length
  return (
    <>
      <pre tabIndex={0}>{text.slice(0, length)}</pre>
      {rest > 0 && (
        <button type="button" onClick={() => setLength(length + 4 * PAGE)}>
          Show more ({rest} characters are left)
        </button>
      )}
    </>
  )
}
