import type { ReactNode } from 'react'
import { useEffect, useRef, useState } from 'react'
import { CopyButton } from './copy-button.tsx'
import type { CodePiece } from './highlight-code.ts'
import { highlighter } from './highlight.ts'

/** Code that grows is highlighted at most so often. */
const HIGHLIGHT_MS = 200
/** Longer code, in characters, is highlighted when it has stopped growing, since it would take too much of a frame. */
const MAX_GROWING_LENGTH = 6_000

export interface CodeBlockProps {
  readonly code: string
  readonly language: string
  readonly controls?: ReactNode
  readonly note?: ReactNode
  /** What is shown in place of the code. */
  readonly children?: ReactNode
}

/** Code with its colours, its language and a button that copies it. */
export function CodeBlock(props: CodeBlockProps): ReactNode {
  const { code, language, controls, note, children } = props
  const pieces = useHighlight(code, language)
  return (
    <figure className="code">
      <figcaption>
        <span>{language === '' ? 'text' : language}</span>
        {controls}
        <CopyButton text={code} isIcon />
      </figcaption>
      {note}
      {children ?? (
        <pre tabIndex={0}>
          <code>
            {pieces?.map(({ name, text }, index) => (
              <span key={index} className={name}>
                {text}
              </span>
            )) ?? code}
          </code>
        </pre>
      )}
    </figure>
  )
}

interface Highlighted {
  readonly code: string
  readonly language: string
  readonly pieces: readonly CodePiece[]
}

/** The coloured pieces, and behind them what was not highlighted yet. */
function useHighlight(code: string, language: string): readonly CodePiece[] | undefined {
  const [done, setDone] = useState<Highlighted>()
  const highlightedAt = useRef(Number.NEGATIVE_INFINITY)
  const isSlow = useRef(false)
  useEffect(() => {
    if (isSlow.current) return undefined
    const stop = new AbortController()
    const rest = highlightedAt.current + HIGHLIGHT_MS - performance.now()
    const timer = setTimeout(
      () => {
        highlightedAt.current = performance.now()
        highlighter.highlight({ code, language }, stop.signal).then(
          (pieces) =>
            pieces !== undefined && setDone((before) => newer(before, { code, language, pieces })),
          () => {
            // It stays plain, also when it grows.
            isSlow.current = true
          },
        )
      },
      code.length > MAX_GROWING_LENGTH ? HIGHLIGHT_MS : Math.max(0, rest),
    )
    return () => {
      clearTimeout(timer)
      stop.abort()
    }
  }, [code, language])
  if (done?.language !== language || !code.startsWith(done.code)) return undefined
  return [...done.pieces, { name: '', text: code.slice(done.code.length) }]
}

/** Results may arrive in another order than that of the growing code. */
function newer(before: Highlighted | undefined, result: Highlighted): Highlighted {
  const isOlder = before?.language === result.language && before.code.startsWith(result.code)
  return isOlder ? before : result
}
