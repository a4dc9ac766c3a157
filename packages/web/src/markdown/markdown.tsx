import type { ReactNode } from 'react'
import { useState } from 'react'
import { Block } from './block.tsx'
import { BlockParser } from './parse.ts'

export interface MarkdownProps {
  readonly text: string
  /** Whether more text follows. */
  readonly isOpen: boolean
}

/** The text of an answer. */
export function Markdown({ text, isOpen }: MarkdownProps): ReactNode {
  const [parser] = useState(() => new BlockParser())
  const blocks = parser.parse(text, isOpen)
  return (
    <div className="markdown">
      {blocks.map((token, index) => (
        <Block key={index} token={token} />
      ))}
    </div>
  )
}
