import type { ReactNode } from 'react'
import { useContext, useState } from 'react'
import { FileUrls } from '../state/file-urls.ts'
import { messageOf } from '../state/message-of.ts'
import { shownContent } from '../state/shown-content.ts'
import type { ToolResult } from '../state/turn.ts'
import { ContentBlock } from './content-block.tsx'
import { JsonView } from '../parts/json-view.tsx'

type Content = Pick<ToolResult, 'content' | 'structuredContent'>

/** What a tool answered, by the types of its parts. */
export function ToolContent({
  result,
  session,
}: {
  readonly result: ToolResult
  readonly session: string
}): ReactNode {
  const [whole, setWhole] = useState<Content>()
  const { error, blob, outcome } = result
  const { content, structuredContent } = whole ?? result
  const hasText = content.some((block) => block['type'] === 'text')
  return (
    <>
      {error !== undefined && <p className="note bad">{error.message}</p>}
      {shownContent(outcome, content).map((block, index) => (
        <ContentBlock key={index} block={block} session={session} />
      ))}
      {structuredContent !== undefined && content.length === 0 && (
        <JsonView value={structuredContent} />
      )}
      {structuredContent !== undefined && content.length > 0 && !hasText && (
        <details>
          <summary>Structured result</summary>
          <JsonView value={structuredContent} />
        </details>
      )}
      {blob !== undefined && whole === undefined && (
        <WholeResult blob={blob} session={session} onLoad={setWhole} />
      )}
      {content.length === 0 && structuredContent === undefined && error === undefined && (
        <p className="muted">The tool answered nothing.</p>
      )}
    </>
  )
}

/** The host keeps a large result apart from the conversation, which has its beginning. */
function WholeResult(props: {
  readonly blob: NonNullable<ToolResult['blob']>
  readonly session: string
  readonly onLoad: (whole: Content) => void
}): ReactNode {
  const { blob, session, onLoad } = props
  const url = useContext(FileUrls)(session, blob.key)
  const [isLoading, setIsLoading] = useState(false)
  const [fault, setFault] = useState<string>()
  const load = async (): Promise<void> => {
    setIsLoading(true)
    setFault(undefined)
    try {
      const response = await fetch(url)
      if (response.status === 404) throw new Error('the host no longer has it')
      if (!response.ok) throw new Error(`the host answered with status ${response.status}`)
      const whole = (await response.json()) as Content
      if (!Array.isArray(whole.content)) throw new Error('it is no result of a tool')
      onLoad(whole)
    } catch (error) {
      setFault(messageOf(error))
      setIsLoading(false)
    }
  }
  return (
    <>
      <p className="note">This is the beginning: the whole result has {blob.bytes} bytes.</p>
      {fault !== undefined && (
        <p role="alert" className="note bad">
          The whole result could not be loaded: {fault}
        </p>
      )}
      <div className="actions">
        <button type="button" disabled={isLoading} onClick={() => void load()}>
          {isLoading ? 'Loading' : 'Load the whole result'}
        </button>
        <a className="button" href={url} download="result.json">
          Download it
        </a>
      </div>
    </>
  )
}
