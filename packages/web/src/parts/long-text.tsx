import type { ReactNode } from 'react'
import { useState } from 'react'

/** A longer text is shown by pages of this length, in characters. */
const PAGE = 4_000

export function LongText({ text }: { readonly text: string }): ReactNode {
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
