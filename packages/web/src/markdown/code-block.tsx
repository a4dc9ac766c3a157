import type { ReactNode } from 'react'
import { useEffect, useState } from 'react'
import { CopyButton } from './copy-button.tsx'
import type { CodePiece } from './highlight.ts'
import { highlight } from './highlight.ts'

/** A code that grows is highlighted at most so often. */
const HIGHLIGHT_MS = 200

/** Code with its colours, its language and a button that copies it. */
export function CodeBlock(props: { readonly code: string; readonly language: string }): ReactNode {
  const { code, language } = props
  const pieces = useHighlight(code, language)
  return (
    <figure className="code">
      <figcaption>
        <span>{language === '' ? 'text' : language}</span>
        <CopyButton text={code} isIcon />
      </figcaption>
      <pre tabIndex={0}>
        <code>
          {pieces?.map(({ name, text }, index) => (
            <span key={index} className={name}>
              {text}
            </span>
          )) ?? code}
        </code>
      </pre>
    </figure>
  )
}

/** The coloured pieces, and behind them what was not highlighted yet. */
function useHighlight(code: string, language: string): readonly CodePiece[] | undefined {
  const [done, setDone] = useState<{ readonly code: string; readonly pieces: CodePiece[] }>()
  useEffect(() => {
    let isCurrent = true
    const timer = setTimeout(() => {
      // Without the colours, as where a part cannot be loaded, the code is still readable.
      highlight(code, language).then(
        (pieces) => isCurrent && pieces !== undefined && setDone({ code, pieces }),
        () => undefined,
      )
    }, HIGHLIGHT_MS)
    return () => {
      isCurrent = false
      clearTimeout(timer)
    }
  }, [code, language])
  if (done === undefined || !code.startsWith(done.code)) return undefined
  return [...done.pieces, { name: '', text: code.slice(done.code.length) }]
}
